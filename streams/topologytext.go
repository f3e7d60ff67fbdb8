package streams

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ParseTopology reads the text of Java's Topology#describe(), as Kafka Streams
// prints it since 1.1 (InternalTopologyBuilder.TopologyDescription). Text that is
// not whole is an error that names the line: a node without its arrows, an arrow
// to a node that is not there, a part without nodes. A text that was cut between
// two parts, or between two names of its last arrow, cannot be told from a whole
// one.
//
// Names may hold any character but a line break. A source's topics in brackets
// that could all be topics are taken for topics, anything else for a pattern: the
// pattern "[abc]" reads as the topic abc.
func ParseTopology(text string) (Topology, error) {
	p := topologyParser{known: map[string]bool{}, ids: map[int32]bool{}}
	for line := range strings.Lines(text) {
		p.line++
		if err := p.read(strings.Trim(line, " \t\r\n")); err != nil {
			return Topology{}, fmt.Errorf("parse topology: line %d: %w", p.line, err)
		}
	}
	if err := p.endPart(); err != nil {
		return Topology{}, fmt.Errorf("parse topology: end of text: %w", err)
	}
	if len(p.top.Parts) == 0 {
		return Topology{}, errors.New("parse topology: end of text: no sub-topology")
	}
	return p.top, nil
}

// topologyParser keeps what the lines so far have said. A part is closed, and
// its arrows are followed, when the next one begins.
type topologyParser struct {
	top    Topology
	line   int
	header bool
	open   bool // the last of top.Parts is being read
	ids    map[int32]bool
	known  map[string]bool // all nodes of the topology: their names are unique
	nodes  map[string]bool // those of the part
	parts  int             // how many pieces between commas a node's name has at most
	arrows []arrow         // of the part
	node   string          // the last node read
	want   []string        // the arrows that it still lacks
}

// arrow is one line of neighbours.
type arrow struct {
	word       string // arrowTo or arrowFrom
	line       int
	node, text string
}

const (
	arrowTo   = "-->"
	arrowFrom = "<--"
)

func (p *topologyParser) read(s string) error {
	if s == "" {
		return nil
	}
	if !p.header {
		return p.readHeader(s)
	}
	word, rest, _ := strings.Cut(s, " ")
	switch word {
	case "Sub-topology:":
		return p.readPart(rest)
	case arrowTo, arrowFrom:
		return p.readArrow(word, rest)
	case "Source:", "Processor:", "Sink:":
		if !p.open {
			return errors.New("node outside a sub-topology")
		}
		if err := p.lacks(); err != nil {
			return err
		}
		return p.readNode(word, rest)
	}
	return fmt.Errorf("%q is not part of a topology's description", Quote(s))
}

func (p *topologyParser) readHeader(s string) error {
	name, isNamed := strings.CutPrefix(s, "Topology: ")
	name, ends := strings.CutSuffix(name, ":")
	switch {
	case s == "Topologies:":
	case isNamed && ends && name != "":
		if err := checkNamed(name); err != nil {
			return err
		}
		p.top.Name = name
	default:
		return fmt.Errorf("%q: want Topologies: as the first line", Quote(s))
	}
	p.header = true
	return nil
}

func (p *topologyParser) readPart(s string) error {
	if err := p.endPart(); err != nil {
		return err
	}
	number, global := strings.CutSuffix(s, " for global store (will not generate tasks)")
	id, err := strconv.ParseUint(number, 10, 31)
	if err != nil {
		return fmt.Errorf("sub-topology %q: want a number", Quote(s))
	}
	if p.ids[int32(id)] {
		return fmt.Errorf("sub-topology %d: is there twice", id)
	}
	p.ids[int32(id)] = true
	p.top.Parts = append(p.top.Parts, TopologyPart{ID: int32(id), Global: global})
	p.open, p.nodes, p.arrows, p.parts = true, map[string]bool{}, nil, 0
	return nil
}

func (p *topologyParser) readArrow(word, rest string) error {
	if len(p.want) == 0 || p.want[0] != word {
		return fmt.Errorf("%s is not expected here", word)
	}
	p.want = p.want[1:]
	p.arrows = append(p.arrows, arrow{word: word, line: p.line, node: p.node, text: rest})
	return nil
}

func (p *topologyParser) readNode(word, s string) error {
	part := &p.top.Parts[len(p.top.Parts)-1]
	var err error
	switch word {
	case "Source:":
		var n SourceNode
		n, err = parseSource(s)
		part.Sources = append(part.Sources, n)
		p.node, p.want = n.Name, []string{arrowTo}
	case "Processor:":
		var n ProcessorNode
		n, err = parseProcessor(s)
		part.Processors = append(part.Processors, n)
		p.node, p.want = n.Name, []string{arrowTo, arrowFrom}
	default:
		var n SinkNode
		n, err = parseSink(s)
		part.Sinks = append(part.Sinks, n)
		p.node, p.want = n.Name, []string{arrowFrom}
	}
	switch {
	case err != nil:
		return err
	case p.node == "":
		return errors.New("node without a name")
	case p.known[p.node]:
		return fmt.Errorf("node %q: is there twice", Quote(p.node))
	}
	p.known[p.node], p.nodes[p.node] = true, true
	p.parts = max(p.parts, 1+strings.Count(p.node, ", "))
	return nil
}

// lacks says which arrow the last node is without.
func (p *topologyParser) lacks() error {
	if len(p.want) > 0 {
		return fmt.Errorf("node %q: %s: %w", Quote(p.node), p.want[0], ErrTruncated)
	}
	return nil
}

func (p *topologyParser) endPart() error {
	if !p.open {
		return nil
	}
	if err := p.lacks(); err != nil {
		return err
	}
	id := p.top.Parts[len(p.top.Parts)-1].ID
	if len(p.nodes) == 0 {
		return fmt.Errorf("sub-topology %d: nodes: %w", id, ErrTruncated)
	}
	for _, a := range p.arrows {
		p.follows(a)
		if !p.leads(a.text) {
			return fmt.Errorf("sub-topology %d: node %q: line %d leads to what is not there: %q", id, Quote(a.node), a.line, Quote(a.text))
		}
	}
	return nil
}

// follows notes the only predecessor of a processor.
func (p *topologyParser) follows(a arrow) {
	if a.word != arrowFrom || !p.nodes[a.text] {
		return
	}
	part := &p.top.Parts[len(p.top.Parts)-1]
	for i := range part.Processors {
		if part.Processors[i].Name == a.node {
			part.Processors[i].After = a.text
		}
	}
}

// maxNameParts bounds the work that names with commas in them make.
const maxNameParts = 16

// leads reports whether an arrow's text is a list of the part's nodes. Names may
// hold the list's own separator, so every way to divide it counts.
func (p *topologyParser) leads(text string) bool {
	if text == "none" {
		return true
	}
	longest := min(p.parts, maxNameParts)
	pieces := strings.Split(text, ", ")
	starts := make([]int, len(pieces)+1) // where each piece begins in text
	for i, s := range pieces {
		starts[i+1] = starts[i] + len(s) + len(", ")
	}
	reached := make([]bool, len(pieces)+1)
	reached[0] = true
	for i := range pieces {
		for j := i + 1; reached[i] && j <= min(i+longest, len(pieces)); j++ {
			reached[j] = reached[j] || p.nodes[text[starts[i]:starts[j]-len(", ")]]
		}
	}
	return reached[len(pieces)]
}

// cutDetail splits "NAME (label DETAIL)" at the last label: the name may hold
// anything.
func cutDetail(s, label string) (name, detail string, ok bool) {
	s, ok = strings.CutSuffix(s, ")")
	i := strings.LastIndex(s, " ("+label)
	if !ok || i < 0 {
		return "", "", false
	}
	return s[:i], s[i+2+len(label):], true
}

// cutList splits "[a, b]".
func cutList(s string) ([]string, bool) {
	if len(s) < 2 || s[0] != '[' || s[len(s)-1] != ']' {
		return nil, false
	}
	if s = s[1 : len(s)-1]; s == "" {
		return nil, true
	}
	return strings.Split(s, ", "), true
}

func parseSource(s string) (SourceNode, error) {
	name, detail, ok := cutDetail(s, "topics: ")
	if !ok || detail == "" || detail == "[]" {
		return SourceNode{}, fmt.Errorf("source %q: want (topics: …)", Quote(s))
	}
	list, isList := cutList(detail)
	for _, topic := range list {
		isList = isList && legalName(topic)
	}
	if !isList {
		return SourceNode{Name: name, Pattern: detail}, nil
	}
	return SourceNode{Name: name, Topics: list}, nil
}

func parseProcessor(s string) (ProcessorNode, error) {
	name, detail, ok := cutDetail(s, "stores: ")
	list, isList := cutList(detail)
	if !ok || !isList {
		return ProcessorNode{}, fmt.Errorf("processor %q: want (stores: […])", Quote(s))
	}
	return ProcessorNode{Name: name, Stores: list}, nil
}

func parseSink(s string) (SinkNode, error) {
	if name, topic, ok := cutDetail(s, "topic: "); ok && legalName(topic) {
		return SinkNode{Name: name, Topic: topic}, nil
	}
	if name, class, ok := cutDetail(s, "extractor class: "); ok && class != "" {
		return SinkNode{Name: name, Extractor: class}, nil
	}
	return SinkNode{}, fmt.Errorf("sink %q: want (topic: …) or (extractor class: …)", Quote(s))
}
