package guard

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// commands says what well-known commands write. nil: nothing in the working tree. A command that is not here may write
// anything.
var commands = map[string]func(*shell, []string){}

func init() {
	for _, name := range strings.Fields(`
		: [ test true false echo printf pwd ls cat head tail less more grep egrep fgrep rg ag wc cut tr uniq nl od xxd hexdump
		file stat du df diff cmp comm which whereis type command hash id whoami date uname hostname env printenv ps top free
		uptime sleep wait jobs kill read seq yes basename dirname realpath readlink tree column jq yq fold expand paste join
		tac rev strings md5sum sha1sum sha256sum cksum base64 man help history umask ulimit trap shift return exit break
		continue local typeset getopts true nproc lscpu lsof ss netstat ping dig host nslookup`) {
		commands[name] = nil
	}
	for name, read := range map[string]func(*shell, []string){
		"tee": func(s *shell, a []string) { s.write(false, operands(a, "")...) },
		"cp":  copyTo, "install": copyTo, "ln": copyTo, "mv": moveTo, "rsync": copyTo,
		"rm":       func(s *shell, a []string) { s.write(true, operands(a, "")...) },
		"rmdir":    func(s *shell, a []string) { s.write(true, operands(a, "")...) },
		"unlink":   func(s *shell, a []string) { s.write(true, operands(a, "")...) },
		"shred":    func(s *shell, a []string) { s.write(false, operands(a, "ns")...) },
		"touch":    func(s *shell, a []string) { s.write(false, operands(a, "dtr")...) },
		"truncate": func(s *shell, a []string) { s.write(false, operands(a, "sr")...) },
		"sponge":   func(s *shell, a []string) { s.write(false, operands(a, "")...) },
		"mkdir":    nil, // a folder is no content
		"chmod":    firstThenFiles, "chown": nil, "chgrp": nil,
		"dd": dd, "sed": sed, "perl": perl, "awk": awk, "gawk": awk, "mawk": awk,
		"sort": optionFile("-o", "--output"), "curl": optionFile("-o", "--output"), "wget": optionFile("-O", "--output-document"),
		"gcc": optionFile("-o", ""), "cc": optionFile("-o", ""),
		"gofmt": inPlace("-w"), "gofumpt": inPlace("-w"), "goimports": inPlace("-w"), "prettier": inPlace("--write", "-w"),
		"rustfmt": func(s *shell, a []string) { s.write(false, operands(a, "")...) },
		"black":   unsureAfter, "ed": lastFile, "ex": lastFile, "vim": lastFile, "vi": lastFile, "nano": lastFile, "emacs": lastFile,
		"patch": patchCommand, "git": git, "find": find, "xargs": xargs,
	} {
		commands[name] = read
	}
}

// operands are the words that are no options. valued lists the one-letter options whose value is the next word.
func operands(args []string, valued string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return append(out, args[i+1:]...)
		case len(a) > 1 && a[0] == '-':
			if len(a) == 2 && strings.Contains(valued, a[1:]) {
				i++
			}
		default:
			out = append(out, a)
		}
	}
	return out
}

// wrappers run the command behind them. The value lists their one-letter options that take a value.
var wrappers = map[string]string{
	"sudo": "ugChpTRr", "doas": "uC", "env": "uCS", "nohup": "", "time": "fo", "nice": "n", "ionice": "cn", "stdbuf": "ioe", "timeout": "ks",
	"command": "", "builtin": "", "exec": "a", "busybox": "", "chronic": "", "setsid": "", "unbuffer": "",
}

// unwrapped is a command with all its wrappers taken off.
func unwrapped(words []string) []string {
	for len(words) > 0 {
		inner, ok := unwrap(words)
		if !ok {
			break
		}
		words = inner
	}
	return words
}

// unwrap takes one wrapper off. env and time need not be followed by a command.
func unwrap(words []string) ([]string, bool) {
	valued, ok := wrappers[filepath.Base(words[0])]
	if !ok {
		return nil, false
	}
	rest := words[1:]
	for len(rest) > 0 {
		a := rest[0]
		switch {
		case a == "--":
			return rest[1:], true
		case len(a) > 1 && a[0] == '-':
			rest = rest[1:]
			if len(a) == 2 && strings.Contains(valued, a[1:]) && len(rest) > 0 {
				rest = rest[1:]
			}
		case filepath.Base(words[0]) == "env" && strings.Contains(a, "="):
			rest = rest[1:]
		case filepath.Base(words[0]) == "timeout":
			return rest[1:], true // its duration
		default:
			return rest, true
		}
	}
	return nil, true
}

// copyTo reads cp, ln, install and rsync: the last operand is written, or lies in the folder of that name.
func copyTo(s *shell, args []string) {
	if target, rest, ok := targetFolder(args); ok {
		s.into(target, operands(rest, "mgoSB"), false)
		return
	}
	ops := operands(args, "mgoSBe")
	if len(ops) < 2 {
		s.unsure()
		return
	}
	s.into(ops[len(ops)-1], ops[:len(ops)-1], false)
}

// moveTo is copyTo, and its sources go.
func moveTo(s *shell, args []string) {
	target, rest, ok := targetFolder(args)
	ops := operands(rest, "S")
	if !ok {
		if ops = operands(args, "S"); len(ops) < 2 {
			s.unsure()
			return
		}
		target, ops = ops[len(ops)-1], ops[:len(ops)-1]
	}
	s.into(target, ops, true)
}

// targetFolder finds -t dir and --target-directory=dir.
func targetFolder(args []string) (target string, rest []string, ok bool) {
	for i, a := range args {
		if (a == "-t" || a == "--target-directory") && i+1 < len(args) {
			return args[i+1], slices.Concat(args[:i], args[i+2:]), true
		}
		if v, found := strings.CutPrefix(a, "--target-directory="); found {
			return v, slices.Concat(args[:i], args[i+1:]), true
		}
	}
	return "", args, false
}

func (s *shell) into(target string, sources []string, gone bool) {
	folder := strings.HasSuffix(target, "/") || len(sources) > 1
	if s.dir != "" || filepath.IsAbs(target) {
		if st, err := os.Stat(s.abs(target)); err == nil && st.IsDir() {
			folder = true
		}
	}
	for _, src := range sources {
		if strings.Contains(src, ":") { // a remote of rsync or scp
			s.unsure()
			continue
		}
		if gone {
			s.write(true, src)
		}
		w := Write{Path: target}
		if folder {
			w.Path = filepath.Join(target, filepath.Base(src))
		}
		if s.dir != "" || filepath.IsAbs(src) {
			st, err := os.Stat(s.abs(src))
			w.Tree = err == nil && st.IsDir()
		}
		s.note(w)
	}
}

func firstThenFiles(s *shell, args []string) {
	if ops := operands(args, ""); len(ops) > 1 {
		s.write(false, ops[1:]...)
	}
}

func dd(s *shell, args []string) {
	for _, a := range args {
		if f, ok := strings.CutPrefix(a, "of="); ok {
			s.write(false, f)
		}
	}
}

// sed writes its files only in place; its script may write others.
func sed(s *shell, args []string) {
	inPlace, script := false, false
	var files []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "-e" || a == "-f" || a == "--expression" || a == "--file":
			script = true
			i++
		case strings.HasPrefix(a, "--in-place"):
			inPlace = true
		case strings.HasPrefix(a, "--expression=") || strings.HasPrefix(a, "--file="):
			script = true
		case strings.HasPrefix(a, "--"):
		case len(a) > 1 && a[0] == '-':
			inPlace = inPlace || strings.HasPrefix(a, "-i") || strings.Contains(strings.TrimLeft(a, "-nErsuz"), "i") && !strings.ContainsAny(a, "ef")
			if strings.HasSuffix(a, "e") && !strings.HasPrefix(a, "-i") {
				script = true
				i++
			}
		case a == "" && inPlace && !script: // BSD's -i ''
		case !script:
			script = true
		default:
			files = append(files, a)
		}
	}
	if inPlace {
		s.write(false, files...)
	}
}

func perl(s *shell, args []string) {
	for _, a := range args {
		if len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.Contains(a, "i") && !strings.ContainsAny(a[1:2], "IMm") {
			ops := operands(args, "eE")
			if hasOption(args, 'e') || hasOption(args, 'E') {
				s.write(false, existing(s, ops)...)
			}
			return
		}
	}
	s.unsure()
}

func hasOption(args []string, letter byte) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		return len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.IndexByte(a, letter) > 0
	})
}

// existing keeps the words that name files: in -pie 's/a/b/' the script looks like an operand, too.
func existing(s *shell, words []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool {
		if s.dir == "" && !filepath.IsAbs(w) {
			return false
		}
		_, err := os.Lstat(s.abs(w))
		return err != nil
	})
}

func awk(s *shell, args []string) {
	if i := slices.Index(args, "inplace"); i > 0 && args[i-1] == "-i" {
		s.write(false, existing(s, operands(args, "iFvf"))...)
		return
	}
	for _, a := range args { // print > "file"
		if strings.Contains(a, ">") || strings.Contains(a, "system") || a == "-f" {
			s.unsure()
		}
	}
}

// optionFile reads the file an option names.
func optionFile(short, long string) func(*shell, []string) {
	return func(s *shell, args []string) {
		for i, a := range args {
			if (a == short || a == long && long != "") && i+1 < len(args) {
				s.write(false, args[i+1])
			}
			if v, ok := strings.CutPrefix(a, long+"="); ok && long != "" {
				s.write(false, v)
			}
			if a == "-O" && short == "-o" || a == "--remote-name" {
				s.unsure()
			}
		}
		if short == "-O" && !slices.Contains(args, short) { // wget names the file itself
			s.unsure()
		}
	}
}

// inPlace reads formatters: they write their files when told to. A folder means all that lies in it.
func inPlace(flags ...string) func(*shell, []string) {
	return func(s *shell, args []string) {
		if !slices.ContainsFunc(args, func(a string) bool { return slices.Contains(flags, a) }) {
			return
		}
		for _, f := range existing(s, operands(args, "r")) {
			if st, err := os.Stat(s.abs(f)); err == nil && st.IsDir() {
				s.unsure() // it writes only what is not yet formatted
				continue
			}
			s.write(false, f)
		}
	}
}

func unsureAfter(s *shell, _ []string) { s.unsure() }

func lastFile(s *shell, args []string) {
	if ops := operands(args, "csu"); len(ops) > 0 {
		s.write(false, ops[len(ops)-1])
		return
	}
	s.unsure()
}

// patchCommand knows its file only when it is named; else the patch says.
func patchCommand(s *shell, args []string) {
	if slices.Contains(args, "--dry-run") {
		return
	}
	if ops := operands(args, "pidoDBrVYzFg"); len(ops) > 0 {
		s.write(false, ops[0])
		return
	}
	for i, a := range args {
		name, ok := strings.CutPrefix(a, "--input=")
		if a == "-i" && i+1 < len(args) {
			name, ok = args[i+1], true
		}
		if ok {
			s.patchFile(name)
			return
		}
	}
	s.unsure()
}

// patchFile reads the paths that a patch file changes.
func (s *shell) patchFile(name string) {
	raw, err := os.ReadFile(s.abs(name))
	if err != nil || s.dir == "" {
		s.unsure()
		return
	}
	for _, p := range unifiedPaths(string(raw)) {
		s.write(false, p)
	}
}

// find writes when it deletes or runs something.
func find(s *shell, args []string) {
	if slices.ContainsFunc(args, func(a string) bool {
		return a == "-delete" || a == "-fprint" || a == "-fls" || strings.HasPrefix(a, "-exec") || strings.HasPrefix(a, "-ok")
	}) {
		s.unsure()
	}
}

func xargs(s *shell, args []string) {
	ops := operands(args, "nPLIdsEaJR")
	if len(ops) == 0 {
		return
	}
	if read, known := commands[filepath.Base(ops[0])]; !known || read != nil {
		s.unsure()
	}
}
