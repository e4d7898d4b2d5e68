package recall

import (
	"strings"
	"sync"
)

// abbreviations are the short forms that programmers write for common words, by the long form. Both are the same term, in
// memories as in questions: who noted "conn leak in the svc" is found by "connection leak of the service". Only forms with
// one usual meaning are here ("res" may be a result or a response).
var abbreviations = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for line := range strings.SplitSeq(`
address addr
administrator admin
allocate alloc
application app
argument arg args
asynchronous async
attribute attr attrs
authentication authn
authorization authz
average avg
calculate calc
certificate cert certs
character chr
command cmd cmds
communication comm
compare cmp
configuration cfg conf config configs
connection conn conns
context ctx
continuous cont
database db dbs
declaration decl
decrement dec
default dflt
definition defn
delete del
dependency dep deps
description descr
destination dest dst
difference diff diffs
directory dir dirs
document doc docs
documentation docs
environment env envs
error err errs
evaluate eval
exception exc
execute exec
expression expr
extension ext
function fn func funcs
generate gen
identifier ident
implementation impl impls
increment incr
index idx
information info
initialize init
integer int
iterator iter
kubernetes k8s
language lang
length len
library lib libs
list lst
maximum max
memory mem
message msg msgs
middleware mw
migration migr
minimum min
navigation nav
number num nums
object obj objs
operation op ops
optimization opt
organization org
original orig
package pkg pkgs
parameter param params
password passwd pwd
performance perf
pointer ptr
position pos
previous prev
production prod
property prop props
query qry
reference ref refs
repository repo repos
request req reqs
response resp
second sec secs
sequence seq
server srv
service svc svcs
source src
specification spec specs
statement stmt stmts
statistics stats
string str strs
synchronous sync
system sys
table tbl
temporary tmp temp
transaction tx txn txns
user usr
utility util utils
value val vals
variable var vars
vulnerability vuln vulns
window win
`, "\n") {
		words := strings.Fields(line)
		for _, w := range words[min(1, len(words)):] {
			out[w] = words[0]
		}
	}
	return out
})
