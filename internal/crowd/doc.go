// Package crowd is a Kafka cluster in the process that is as full as those of
// large companies: thousands of topics, and groups of which a few are Kafka
// Streams applications. The benchmark of the big cluster and the tests of request
// budgets look at it.
//
// The cluster is kfake. Everything on it is there on the wire: topics with their
// leaders, records and settings, groups with members that joined and never leave,
// commits, the same commits as records of __consumer_offsets, and transactional
// IDs. Names, numbers, leaders and bytes follow from the [Size] alone, so that two
// crowds of which one has more topics differ in nothing but topics that nobody
// reads. Topic IDs, member IDs and producer IDs are the cluster's own.
//
// [Start] returns when all is there. Nothing runs on after Close; no member sends
// heartbeats, for a day.
//
// The package may import streams, franz-go and x/sync. It never imports discovery,
// recovery, kafka, ui or headless: those are what it is there to measure.
package crowd
