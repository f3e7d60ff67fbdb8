//go:build integration

package integration

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// toolchain is what Maven made of integration/java: the jars, our classes, and the JVM to run them with.
type toolchain struct {
	java   string // the java program
	cache  string // integration/java/target, where everything that can be made again is kept
	digest string // of the pom, the sources and the JVM: what is kept in cache is named after it
	jars   []string
	own    string // our classes
}

var builtToolchain = sync.OnceValues(buildToolchain)

// java gives the tool chain, made by Maven if it is missing or stale. Without Java or Maven the test fails.
func java(t *testing.T) *toolchain {
	t.Helper()
	tc, err := builtToolchain()
	if err != nil {
		t.Fatalf("set up Java: %v", err)
	}
	return tc
}

func buildToolchain() (*toolchain, error) {
	program, err := exec.LookPath("java")
	if err != nil {
		return nil, fmt.Errorf("the integration tests need Java 17 (Debian: openjdk-17-jdk-headless): %w", err)
	}
	mvn, err := exec.LookPath("mvn")
	if err != nil {
		return nil, fmt.Errorf("the integration tests need Maven (Debian: maven): %w", err)
	}
	root, err := filepath.Abs("java")
	if err != nil {
		return nil, err
	}
	tc := &toolchain{java: program, cache: filepath.Join(root, "target")}
	if tc.digest, err = sourceDigest(root, program); err != nil {
		return nil, err
	}
	unlock, err := lockDir(tc.cache)
	if err != nil {
		return nil, err
	}
	defer unlock()
	stamp := filepath.Join(tc.cache, "stamp")
	if have, err := os.ReadFile(stamp); err != nil || string(have) != tc.digest {
		if err := maven(mvn, root, tc.cache); err != nil {
			return nil, err
		}
		if err := os.WriteFile(stamp, []byte(tc.digest), 0o644); err != nil {
			return nil, err
		}
	}
	tc.own = filepath.Join(tc.cache, "classes")
	if tc.jars, err = filepath.Glob(filepath.Join(tc.cache, "lib", "*.jar")); err != nil || len(tc.jars) == 0 {
		return nil, fmt.Errorf("no jars below %s: %w", tc.cache, err)
	}
	slices.Sort(tc.jars) // class-data archives want one order of the class path
	return tc, nil
}

// maven builds from nothing: an incremental compile keeps the classes of sources that are gone.
func maven(mvn, root, target string) error {
	for _, made := range []string{"classes", "lib", "maven-status", "stamp"} {
		if err := os.RemoveAll(filepath.Join(target, made)); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(context.Background(), mvn, "-q", "-B", "compile")
	cmd.Dir = root
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("mvn compile: %w\n%s", err, out.String())
	}
	return nil
}

func sourceDigest(root, program string) (string, error) {
	sum := sha256.New()
	version, err := exec.CommandContext(context.Background(), program, "-version").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("java -version: %w", err)
	}
	fmt.Fprintf(sum, "%s\n%s\n", root, version) // class-data archives know the absolute class path
	add := func(path string) error {
		content, err := os.ReadFile(path)
		fmt.Fprintf(sum, "%s %d\n%s", path, len(content), content)
		return err
	}
	if err := add(filepath.Join(root, "pom.xml")); err != nil {
		return "", err
	}
	err = filepath.WalkDir(filepath.Join(root, "src"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return add(path)
	})
	return hex.EncodeToString(sum.Sum(nil))[:16], err
}

// lockDir keeps a second test process from building at the same time.
func lockDir(dir string) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	return func() { f.Close() }, nil
}

// jvm is how one of our JVMs is started.
type jvm struct {
	heap    string   // -Xmx
	archive string   // class-data archive to start from, or ""
	dump    string   // class-data archive to write at exit, or ""
	own     bool     // our classes are on the class path
	log     []string // slf4j-simple settings, "name=value"
	main    string
	args    []string
}

func (tc *toolchain) command(j jvm) []string {
	argv := []string{tc.java, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Xmx" + j.heap}
	switch {
	case j.dump != "":
		argv = append(argv, "-XX:ArchiveClassesAtExit="+j.dump)
	case j.archive != "" && exists(j.archive):
		argv = append(argv, "-XX:SharedArchiveFile="+j.archive)
	}
	for _, setting := range append([]string{"defaultLogLevel=warn", "showDateTime=true", "dateTimeFormat=HH:mm:ss.SSS"}, j.log...) {
		argv = append(argv, "-Dorg.slf4j.simpleLogger."+setting)
	}
	path := tc.jars
	if j.own {
		path = append(slices.Clone(path), tc.own) // at the end: an archive fits every longer class path
	}
	argv = append(argv, "-cp", strings.Join(path, ":"), j.main)
	return append(argv, j.args...)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
