package batch

// Record is one record with everything that Kafka keeps of it. Key, Value and a
// header's Value are nil when they are null, which is not the same as empty.
type Record struct {
	Offset int64
	// Time is the record's timestamp in ms since the epoch: what its producer
	// said, or when the broker appended it.
	Time int64
	// Appended says that Time is the broker's (message.timestamp.type
	// LogAppendTime).
	Appended bool
	Key      []byte
	Value    []byte
	// Headers are in order, with duplicates.
	Headers []Header
}

// Header is one header of a record. Keys are UTF-8 by convention only.
type Header struct {
	Key   string
	Value []byte
}
