package main

import (
	"errors"

	"resurge/kafka"
)

func readProperties(string) (kafka.ClientConfig, error) {
	return kafka.ClientConfig{}, errors.New("not yet")
}
