package strict

import "bytes"

// byteOrderMark is what some editors write before UTF-8 text.
const byteOrderMark = "\xef\xbb\xbf"

// miscoded says why a text that is right on the screen is no TOML where the
// parser stopped, or "".
func miscoded(data []byte, offset int) string {
	switch {
	case wide(data):
		return "the file is UTF-16, TOML is UTF-8: save it as UTF-8"
	case offset == 0 && bytes.HasPrefix(data, []byte(byteOrderMark)):
		return "the file begins with a byte order mark (BOM): save it as UTF-8 without one"
	case alone(data, offset):
		return "a line ends with a carriage return (CR) alone: save the file with line ends LF (Unix) or CRLF"
	default:
		return ""
	}
}

// wide reports UTF-16, with a byte order mark or by the zero in its first
// character, which is always ASCII.
func wide(data []byte) bool {
	return len(data) >= 2 && (data[0] == 0 || data[1] == 0 ||
		bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}))
}

// alone reports a carriage return at an offset that no line feed follows.
func alone(data []byte, offset int) bool {
	return offset < len(data) && data[offset] == '\r' && (offset+1 == len(data) || data[offset+1] != '\n')
}

// plain returns a copy, of the same length, without byte order mark and with a
// line feed for each carriage return alone.
func plain(data []byte) []byte {
	text := bytes.Clone(data)
	if bytes.HasPrefix(text, []byte(byteOrderMark)) {
		copy(text, "   ")
	}
	for i := range data {
		if alone(data, i) {
			text[i] = '\n'
		}
	}
	return text
}
