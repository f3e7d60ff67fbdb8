package kafka

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"resurge/streams"
)

// adminTimeout is how long a broker may take to finish making or deleting a
// topic before it answers.
const adminTimeout = 15 * time.Second

// createTimeout bounds the wait for the name of a topic that is still being
// deleted.
const createTimeout = 30 * time.Second

// NewTopic is a topic to create.
type NewTopic struct {
	Name       string
	Partitions int
	// ReplicationFactor is -1 for the broker's default.
	ReplicationFactor int
	Configs           map[string]string
}

// errOtherTopic says that a name belongs to another generation by now.
var errOtherTopic = errors.New("another topic has this name by now")

// generation is a topic as it stands: zero when there is none.
func (w *Writer) generation(ctx context.Context, s subject, name string) (id streams.TopicID, exists bool, err error) {
	cl, err := w.cluster.writeClient()
	if err != nil {
		return id, false, s.fail(err)
	}
	resp, err := metadataOf(ctx, cl, []string{name})
	if err != nil {
		return id, false, s.fail(err)
	}
	t := first(resp.Topics)
	switch {
	case len(resp.Topics) != 1:
		return id, false, s.fail(errUnexpected)
	case t.ErrorCode == kerr.UnknownTopicOrPartition.Code:
		return id, false, nil
	case t.ErrorCode != 0 && t.ErrorCode != kerr.LeaderNotAvailable.Code:
		return id, false, s.fail(kerr.ErrorForCode(t.ErrorCode))
	}
	return t.TopicID, true, nil
}

// DeleteTopic deletes one topic generation by name and, where the broker knows
// topic IDs (KIP-516), by ID: a topic that was created again under the same name
// is refused and left alone. A topic that is already gone is no error.
func (w *Writer) DeleteTopic(ctx context.Context, name string, id streams.TopicID) error {
	s := topicSubject(name, "DELETE")
	s.what = "delete " + s.what
	gone, err := w.gone(ctx, s, name, id)
	if err != nil || gone {
		return err
	}
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.TimeoutMillis = int32(adminTimeout.Milliseconds())
	req.TopicNames = []string{name} // to version 5
	t := kmsg.NewDeleteTopicsRequestTopic()
	if t.TopicID = id; id.IsZero() {
		t.Topic = new(name)
	}
	req.Topics = append(req.Topics, t)
	resp, err := send[*kmsg.DeleteTopicsResponse](ctx, w, s, req)
	if err == nil {
		d := first(resp.Topics)
		switch d.ErrorCode {
		case 0, kerr.UnknownTopicOrPartition.Code, kerr.UnknownTopicID.Code:
			if len(resp.Topics) == 1 {
				return nil
			}
			return s.fail(errUnexpected)
		case kerr.RequestTimedOut.Code:
			err = s.ambiguous(kerr.RequestTimedOut)
		default:
			return asError(s.code(d.ErrorCode, d.ErrorMessage))
		}
	}
	// The answer was lost: what stands decides.
	if gone, e := w.gone(ctx, s, name, id); e == nil && gone {
		return nil
	}
	return err
}

// gone reports whether the generation is deleted, and refuses when the name now
// belongs to another one.
func (w *Writer) gone(ctx context.Context, s subject, name string, id streams.TopicID) (bool, error) {
	now, exists, err := w.generation(ctx, s, name)
	switch {
	case err != nil:
		return false, err
	case !exists:
		return true, nil
	case !id.IsZero() && !now.IsZero() && now != id:
		return false, &faultError{cause: errOtherTopic, Fault: &streams.Fault{
			Kind: streams.FaultOther, What: s.what, Message: fmt.Sprintf("%s: it has ID %s, not %s; nothing was deleted", errOtherTopic, now, id),
			Hint: "find out what created the topic again, and make a new plan",
		}}
	}
	return false, nil
}

// CreateTopic creates a topic and returns its ID, zero where the broker knows
// none. While a topic of that name is still being deleted it tries again; a
// topic that stands is an error.
func (w *Writer) CreateTopic(ctx context.Context, nt NewTopic) (streams.TopicID, error) {
	s := topicSubject(nt.Name, "CREATE")
	s.what = "create " + s.what
	until := time.Now().Add(createTimeout)
	for try := 1; ; try++ {
		resp, err := send[*kmsg.CreateTopicsResponse](ctx, w, s, createTopics(nt))
		if err != nil {
			return streams.TopicID{}, err
		}
		t := first(resp.Topics)
		switch {
		case len(resp.Topics) != 1:
			return streams.TopicID{}, s.fail(errUnexpected)
		case t.ErrorCode == 0:
			return w.createdID(ctx, s, nt.Name, t.TopicID)
		case t.ErrorCode == kerr.RequestTimedOut.Code:
			return streams.TopicID{}, s.ambiguous(kerr.RequestTimedOut)
		case t.ErrorCode != kerr.TopicAlreadyExists.Code:
			return streams.TopicID{}, &faultError{Fault: s.code(t.ErrorCode, t.ErrorMessage), cause: kerr.ErrorForCode(t.ErrorCode)}
		}
		if _, exists, err := w.generation(ctx, s, nt.Name); err != nil || exists || !pause(ctx, try, until) {
			f := s.code(t.ErrorCode, t.ErrorMessage)
			f.Hint = "a topic of this name exists, or is still being deleted: a topic operator, or auto.create.topics.enable with a live client, may have made it"
			return streams.TopicID{}, &faultError{Fault: f, cause: kerr.TopicAlreadyExists}
		}
	}
}

// createdID looks the ID up where the answer has none (before version 7).
func (w *Writer) createdID(ctx context.Context, s subject, name string, id streams.TopicID) (streams.TopicID, error) {
	until := time.Now().Add(retryTimeout)
	for try := 1; id.IsZero(); try++ {
		now, exists, err := w.generation(ctx, s, name)
		if err != nil {
			return id, err
		}
		if exists {
			return now, nil
		}
		if !pause(ctx, try, until) {
			return id, s.fail(errors.Join(kerr.UnknownTopicOrPartition, ctx.Err()))
		}
	}
	return id, nil
}

func createTopics(nt NewTopic) *kmsg.CreateTopicsRequest {
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = int32(adminTimeout.Milliseconds())
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic, t.NumPartitions, t.ReplicationFactor = nt.Name, int32(nt.Partitions), int16(nt.ReplicationFactor)
	for k, v := range nt.Configs {
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = k, new(v)
		t.Configs = append(t.Configs, c)
	}
	req.Topics = append(req.Topics, t)
	return req
}
