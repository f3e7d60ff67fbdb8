package streams_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"resurge/streams"
)

func topologyText(tb testing.TB, name string) string {
	tb.Helper()
	b, err := os.ReadFile(filepath.Join("testdata/topologies", name+".txt"))
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

func TestParseTopology(t *testing.T) {
	got, err := streams.ParseTopology(topologyText(t, "global"))
	if err != nil {
		t.Fatal(err)
	}
	want := streams.Topology{Parts: []streams.TopologyPart{
		{
			Sources:    []streams.SourceNode{{Name: "KSTREAM-SOURCE-0000000000", Topics: []string{"positions", "trades"}}},
			Processors: []streams.ProcessorNode{{Name: "KSTREAM-LEFTJOIN-0000000005", After: "KSTREAM-SOURCE-0000000000"}, {Name: "KSTREAM-PRINTER-0000000007", After: "KSTREAM-LEFTJOIN-0000000005"}},
			Sinks: []streams.SinkNode{
				{Name: "KSTREAM-SINK-0000000001", Extractor: "com.example.Streams$$Lambda$4/0x0000000800c143a0@70ed52de"},
				{Name: "KSTREAM-SINK-0000000006", Topic: "opportunities"},
			},
		},
		{
			ID: 1, Global: true,
			Sources:    []streams.SourceNode{{Name: "KSTREAM-SOURCE-0000000003", Topics: []string{"instruments"}}},
			Processors: []streams.ProcessorNode{{Name: "KTABLE-SOURCE-0000000004", Stores: []string{"instruments-STATE-STORE-0000000002"}, After: "KSTREAM-SOURCE-0000000003"}},
		},
		{
			ID:         2,
			Sources:    []streams.SourceNode{{Name: "KSTREAM-SOURCE-0000000008", Pattern: `audit\.[a-z]+`}},
			Processors: []streams.ProcessorNode{{Name: "KSTREAM-PROCESSOR-0000000009", Stores: []string{"dedup", "seen"}, After: "KSTREAM-SOURCE-0000000008"}},
		},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	b, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var back streams.Topology
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, back); diff != "" {
		t.Errorf("JSON: %s", diff)
	}
}

func TestTopologyTopicsAndStores(t *testing.T) {
	const reg, resp = "KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000006-topic", "KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-0000000014-topic"
	for name, want := range map[string]struct{ Sources, Sinks, Stores, GlobalTopics, GlobalStores []string }{
		"wordcount": {
			Sources: []string{"app-counts-store-repartition", "streams-plaintext-input"},
			Sinks:   []string{"app-counts-store-repartition", "streams-wordcount-output"},
			Stores:  []string{"counts-store"},
		},
		"global": {
			Sources: []string{"positions", "trades"}, Sinks: []string{"opportunities"}, Stores: []string{"dedup", "seen"},
			GlobalTopics: []string{"instruments"}, GlobalStores: []string{"instruments-STATE-STORE-0000000002"},
		},
		"fkjoin": {
			Sources: []string{"app-" + reg, "app-" + resp, "left", "right"},
			Sinks:   []string{"app-" + reg, "app-" + resp, "out"},
			Stores:  []string{"KTABLE-FK-JOIN-OUTPUT-STATE-STORE-0000000019", "KTABLE-FK-JOIN-SUBSCRIPTION-STATE-STORE-0000000010", "left-STATE-STORE-0000000000", "right-STATE-STORE-0000000003"},
		},
	} {
		top, err := streams.ParseTopology(topologyText(t, name))
		if err != nil {
			t.Fatal(err)
		}
		got := want
		got.Sources, got.Sinks, got.Stores = top.SourceTopics("app"), top.SinkTopics("app"), top.Stores()
		got.GlobalTopics, got.GlobalStores = top.GlobalTopics(), top.GlobalStores()
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		for _, topic := range got.Sources {
			if _, internal := streams.ParseInternal("app", topic); internal != strings.HasPrefix(topic, "app-") {
				t.Errorf("%s: internal %v", topic, internal)
			}
		}
	}
}

func TestTopologyTellsInputsFromRepartitionTopics(t *testing.T) {
	text := func(header, in, out string) string {
		return header + "\n   Sub-topology: 0\n    Source: s (topics: [" + in + "])\n      --> k\n    Sink: k (topic: " + out + ")\n      <-- s\n\n"
	}
	for _, c := range []struct{ header, in, out, sources, sinks string }{
		{"Topologies:", "x-repartition", "x-repartition", "app-x-repartition", "app-x-repartition"},
		{"Topology: billing:", "x-repartition", "x-repartition", "app-billing-x-repartition", "app-billing-x-repartition"},
		{"Topologies:", "j-subscription-response-topic", "j-subscription-response-topic", "app-j-subscription-response-topic", "app-j-subscription-response-topic"},
		{"Topologies:", "x-repartition", "out", "x-repartition", "out"}, // KAFKA-7930: an input with an unlucky name
		{"Topologies:", "in", "x-repartition", "in", "x-repartition"},
		{"Topologies:", "x-changelog", "x-changelog", "x-changelog", "x-changelog"}, // no node reads or writes changelogs
		{"Topologies:", "loop", "loop", "loop", "loop"},
	} {
		top, err := streams.ParseTopology(text(c.header, c.in, c.out))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(top.SourceTopics("app"), " "); got != c.sources {
			t.Errorf("%s: reads %s, want %s", c.in, got, c.sources)
		}
		if got := strings.Join(top.SinkTopics("app"), " "); got != c.sinks {
			t.Errorf("%s: writes %s, want %s", c.out, got, c.sinks)
		}
	}
}

func TestTopologyWithOddNames(t *testing.T) {
	for _, name := range []string{
		"my node", "a (stores: [x])", "a (topics: [t])", "a (topic: t)", "Source:", "-->", "x, y", "x, y, z", "none", "[]", "ä\u202eb", "KSTREAM)", "Sub-topology: 0",
	} {
		text := "Topologies:\r\n\r\n   Sub-topology: 7\r\n\r\n    Source: s (topics: [in])\r\n      --> " + name + ", x\r\n" +
			"    Processor: " + name + " (stores: [a, b])\r\n      --> k\r\n      <-- s\r\n" +
			"    Processor: x (stores: [])\r\n      --> none\r\n      <-- s\r\n" +
			"    Sink: k (extractor class: T (topic: not one))\r\n      <-- " + name
		got, err := streams.ParseTopology(text)
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		want := streams.TopologyPart{
			ID: 7, Sources: []streams.SourceNode{{Name: "s", Topics: []string{"in"}}},
			Processors: []streams.ProcessorNode{{Name: name, Stores: []string{"a", "b"}, After: "s"}, {Name: "x", After: "s"}},
			Sinks:      []streams.SinkNode{{Name: "k", Extractor: "T (topic: not one)"}},
		}
		if diff := cmp.Diff(want, got.Parts[0]); diff != "" {
			t.Errorf("%q: %s", name, diff)
		}
	}
}

func TestTopologyThatIsNone(t *testing.T) {
	const part = "Topologies:\n   Sub-topology: 0\n"
	const source = "    Source: s (topics: [in])\n"
	for name, c := range map[string]struct{ text, want string }{
		"nothing":             {"", "no sub-topology"},
		"header alone":        {"Topologies:\n ", "no sub-topology"},
		"no header":           {"   Sub-topology: 0\n", "line 1"},
		"two headers":         {part + source + "      --> none\nTopologies:\n", "line 5"},
		"illegal name":        {"Topology: ../x:\n", "line 1"},
		"1.0's form":          {"Sub-topologies: \n  Sub-topology: 0\n    Source: a(topics: t) --> b\n", "line 1"},
		"no number":           {"Topologies:\n   Sub-topology: x\n", "line 2"},
		"negative number":     {"Topologies:\n   Sub-topology: -1\n", "line 2"},
		"2^31":                {"Topologies:\n   Sub-topology: 2147483648\n", "line 2"},
		"node before a part":  {"Topologies:\n" + source, "line 2: node outside"},
		"part without nodes":  {part, "nodes: truncated"},
		"empty part inside":   {part + "   Sub-topology: 1\n", "line 3: sub-topology 0: nodes"},
		"part twice":          {part + source + "      --> none\n   Sub-topology: 0\n", "twice"},
		"node twice":          {part + source + "      --> none\n" + source, "twice"},
		"no arrow":            {part + source, "-->: truncated"},
		"no arrow inside":     {part + source + source, "line 4"},
		"wrong arrow":         {part + source + "      <-- none\n", "line 4"},
		"arrow too many":      {part + source + "      --> none\n      --> none\n", "line 5"},
		"processor half":      {part + "    Processor: p (stores: [])\n      --> none\n", "<--: truncated"},
		"arrow to nothing":    {part + source + "      --> p\n", `"p"`},
		"arrow to empty":      {part + source + "      -->\n", "leads to what is not there"},
		"arrow cut":           {part + source + "      --> s, \n", "leads to what is not there"},
		"arrow across parts":  {part + source + "      --> x\n  Sub-topology: 1\n    Sink: x (topic: t)\n      <-- none\n", "leads to what is not there"},
		"source without list": {part + "    Source: s\n", "line 3: source"},
		"source list empty":   {part + "    Source: s (topics: [])\n", "line 3: source"},
		"source cut":          {part + "    Source: s (topics: [in]\n", "line 3: source"},
		"no name":             {part + "    Source:  (topics: [in])\n", "without a name"},
		"stores no list":      {part + "    Processor: p (stores: x)\n", "line 3: processor"},
		"stores cut":          {part + "    Processor: p (stores: [x)\n", "line 3: processor"},
		"illegal topic":       {part + "    Sink: k (topic: a b)\n", "line 3: sink"},
		"empty extractor":     {part + "    Sink: k (extractor class: )\n", "line 3: sink"},
		"unknown node":        {part + "    Splitter: k (topic: t)\n", "not part"},
		"other text":          {part + "12:00:01 INFO started\n", "not part"},
	} {
		got, err := streams.ParseTopology(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "parse topology: ") {
			t.Errorf("%s: %+v %v, want %q", name, got, err, c.want)
		}
	}
}

// A cut is an error wherever it leaves something open: between two parts, or
// between two names of the last arrow, it leaves nothing.
func TestTopologyCutAnywhere(t *testing.T) {
	for _, name := range []string{"wordcount", "global", "fkjoin"} {
		text := strings.TrimRight(topologyText(t, name), "\n")
		for cut := range text {
			head, tail := text[:cut], text[cut:]
			between := strings.HasPrefix(strings.TrimLeft(tail, " \n"), "Sub-topology: ") && strings.Contains(head, "Sub-topology: ")
			lastArrow := strings.HasPrefix(tail, ", ") && !strings.Contains(tail, "\n")
			if _, err := streams.ParseTopology(head); (err == nil) != (between || lastArrow) {
				t.Errorf("%s cut at %d, after %q: %v", name, cut, head[max(0, cut-30):], err)
			}
		}
	}
}

func FuzzParseTopology(f *testing.F) {
	for _, name := range []string{"wordcount", "global", "fkjoin"} {
		f.Add(topologyText(f, name))
	}
	f.Add("Topology: n:\n Sub-topology: 3\n Source: a, b (topics: x-repartition)\n --> none\n")
	f.Fuzz(func(t *testing.T, text string) {
		top, err := streams.ParseTopology(text)
		if err != nil {
			return
		}
		if len(top.Parts) == 0 {
			t.Error("no parts")
		}
		for _, part := range top.Parts {
			for _, s := range part.Sources {
				if s.Name == "" || (len(s.Topics) > 0) == (s.Pattern != "") {
					t.Errorf("source %+v", s)
				}
			}
			for _, s := range part.Sinks {
				if s.Name == "" || (s.Topic == "") == (s.Extractor == "") {
					t.Errorf("sink %+v", s)
				}
			}
		}
		for _, topic := range append(top.SourceTopics("app"), top.SinkTopics("app")...) {
			if streams.Quote(topic) != topic {
				t.Errorf("topic %q", topic)
			}
		}
		if again, err := streams.ParseTopology(strings.ReplaceAll(text, "\n", "\r\n")); err != nil || !cmp.Equal(top, again) {
			t.Errorf("with other line breaks: %v %s", err, cmp.Diff(top, again))
		}
	})
}

func TestTableSources(t *testing.T) {
	const text = `Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [customers])
      --> KTABLE-SOURCE-0000000001
    Source: KSTREAM-SOURCE-0000000002 (topics: [orders])
      --> KSTREAM-AGGREGATE-0000000003
    Source: prices-source (topics: [prices])
      --> prices-table-source
    Processor: KTABLE-SOURCE-0000000001 (stores: [customers-store])
      --> none
      <-- KSTREAM-SOURCE-0000000000
    Processor: KSTREAM-AGGREGATE-0000000003 (stores: [counts])
      --> out
      <-- KSTREAM-SOURCE-0000000002
    Processor: prices-table-source (stores: [prices-versioned])
      --> none
      <-- prices-source
    Sink: out (topic: totals)
      <-- KSTREAM-AGGREGATE-0000000003
`
	top, err := streams.ParseTopology(text)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"customers-store": "customers", "prices-versioned": "prices"}
	if diff := cmp.Diff(want, top.TableSources()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]int32{0}, top.PartOf("shop", "shop-counts-changelog")); diff != "" {
		t.Errorf("part of a changelog: -want +got:\n%s", diff)
	}
	if got := top.PartOf("shop", "elsewhere"); got != nil {
		t.Errorf("a topic of nobody is in parts %v", got)
	}
}
