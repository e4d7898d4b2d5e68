// Package tokens counts tokens as language models do: o200k_base, the encoding of OpenAI's present models, whose
// vocabulary is part of the binary (github.com/tiktoken-go/tokenizer). Other vendors' counts differ by some percent.
package tokens

import (
	"sync"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"
)

// codec is loaded on first use: it takes some hundred milliseconds and a few ten megabytes.
var codec = sync.OnceValue(func() tokenizer.Codec {
	c, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		panic("tokens: " + err.Error()) // the vocabulary is compiled in; this cannot happen
	}
	return c
})

// chunk bounds what the codec sees at once; its time grows faster than the text.
const chunk = 4096

// Count returns how many tokens s is. Texts over 4 KB are counted piece by piece, which adds at most one token a piece. Only the empty text has none.
// Safe for concurrent use.
func Count(s string) int {
	n := 0
	for len(s) > 0 {
		piece := s
		if len(piece) > chunk {
			end := chunk
			for end > chunk-utf8.UTFMax && !utf8.RuneStart(s[end]) {
				end--
			}
			piece = s[:end]
		}
		s = s[len(piece):]
		m, err := codec().Count(piece)
		if err != nil {
			m = (len(piece) + 3) / 4 // the rule of thumb, for text that the codec refuses
		}
		n += max(m, 1) // control characters alone count as nothing, and a budget must end
	}
	return n
}
