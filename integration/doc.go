// Package integration tests the resurge binary against a real Apache Kafka broker, Kafka's own command-line tools and a
// real Kafka Streams application. Its tests carry the build tag "integration" and need Java 17 and Maven:
//
//	go test -tags integration ./integration/...
//
// A missing Java or Maven is a failure, never a skip. Every process binds to 127.0.0.1, and only processes that a test
// started are ended.
package integration
