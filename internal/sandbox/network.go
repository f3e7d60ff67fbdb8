package sandbox

import (
	"context"
	"fmt"
	"net"
	"sync"
	"syscall"
)

// Network is a network in memory: brokers and query endpoints listen on it and
// clients dial into it, without sockets. Its waits are durably blocking for
// testing/synctest, in which a session timeout then passes in no time. The zero
// value is ready.
type Network struct {
	mu        sync.Mutex // guards the rest
	lastPort  int
	listeners map[string]*listener
}

// Listen has the form of net.Listen. Port 0 stands for a free one.
func (n *Network) Listen(network, address string) (net.Listener, error) {
	addr, err := net.ResolveTCPAddr(network, address)
	if err != nil {
		return nil, fmt.Errorf("listen in memory: %w", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if addr.Port == 0 {
		n.lastPort = max(n.lastPort, 10_000) + 1
		addr.Port = n.lastPort
	}
	if n.listeners[addr.String()] != nil {
		return nil, &net.OpError{Op: "listen", Net: network, Addr: addr, Err: syscall.EADDRINUSE}
	}
	l := &listener{network: n, addr: addr, conns: make(chan net.Conn), done: make(chan struct{})}
	if n.listeners == nil {
		n.listeners = map[string]*listener{}
	}
	n.listeners[addr.String()] = l
	return l, nil
}

// DialContext has the form of net.Dialer's.
func (n *Network) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	n.mu.Lock()
	l := n.listeners[address]
	n.mu.Unlock()
	refused := &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	if l == nil {
		return nil, refused
	}
	here, there := net.Pipe()
	select {
	case l.conns <- conn{Conn: there, addr: l.addr}:
		return conn{Conn: here, addr: l.addr}, nil
	case <-l.done:
		return nil, refused
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type listener struct {
	network *Network
	addr    *net.TCPAddr
	conns   chan net.Conn
	once    sync.Once
	done    chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() {
		close(l.done)
		l.network.mu.Lock()
		defer l.network.mu.Unlock()
		delete(l.network.listeners, l.addr.String())
	})
	return nil
}

func (l *listener) Addr() net.Addr { return l.addr }

// conn gives a pipe the addresses that brokers want to see.
type conn struct {
	net.Conn
	addr net.Addr
}

func (c conn) RemoteAddr() net.Addr { return c.addr }
func (c conn) LocalAddr() net.Addr  { return c.addr }
