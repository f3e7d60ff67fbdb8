package kafka

import (
	"context"
)

func (c *Cluster) explain(_ context.Context, s subject, err error) error {
	return s.fail(err)
}
