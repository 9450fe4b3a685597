import fc from 'fast-check'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { escaped, text } from '../../shared/domain/text.ts'
import { messagesOf } from './messages-of.ts'

const short = text({ max: 50 })
const lines = text({ max: 100, lines: true })

// Man, woman and girl joined: five code points, eight UTF-16 units.
const FAMILY = '\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}'

const TOO_LONG = 'must not exceed 50 characters'
const CONTROL = 'must not contain control or invisible formatting characters'

test.each([
  ['51 letters', 'a'.repeat(51), TOO_LONG],
  ['51 faces', '\u{1F600}'.repeat(51), TOO_LONG],
  ['10 families and a letter', `${FAMILY.repeat(10)}a`, TOO_LONG],
  ['26 decomposed letters', 'e\u{301}'.repeat(26), TOO_LONG],
  ['a million letters', 'a'.repeat(1_000_000), TOO_LONG],
  ['undefined', undefined, 'is required'],
  ['null', null, 'is required'],
  ['the empty text', '', 'is required'],
  ['blanks', '   ', 'is required'],
  ['wide blanks', '\u{A0}\u{3000}', 'is required'],
  ['a number', 5, 'must be a string'],
  ['a list', ['a'], 'must be a string'],
])('a text of 50 characters is not %s', (_, input, message) => {
  expect(messagesOf(short, input)).toEqual([message])
})

const unchanged = [
  ...['a'.repeat(50), '\u{1F600}'.repeat(50), FAMILY.repeat(10), '\u{E9}'.repeat(50)],
  ...['<b>Rent</b> & "more"', "Robert'); DROP TABLE debits;--", '../../etc/passwd%00', 'a#b|c/d'],
  ...['\u{6F22}\u{5B57}', '\u{FFFD}', ' leading and trailing '],
]

test.each(unchanged)('the text %j is unchanged', (input) => {
  expect(v.parse(short, input)).toBe(input)
})

test('a text of invisible characters only is blank', () => {
  for (const invisible of [...'\u200B\uFEFF\u2060\xAD\u3164\u2800', ' \u200D\uFE0F ']) {
    expect(messagesOf(short, invisible), invisible).toEqual(['is required'])
    expect(messagesOf(short, `a${invisible}`), invisible).toEqual([])
  }
  expect(messagesOf(lines, '\r\n\t')).toEqual(['is required'])
})

const range = (first: number, last: number): string[] =>
  Array.from({ length: last - first + 1 }, (_, n) => String.fromCharCode(first + n))

/** Controls, lone surrogates, and bidirectional marks, embeddings, overrides and isolates. */
const forbidden = [
  ...[...range(0x00, 0x1f), ...range(0x7f, 0x9f), '\u{D800}', '\u{DBFF}', '\u{DC00}', '\u{DFFF}'],
  ...['\u{61C}', '\u{200E}', '\u{200F}', ...range(0x202a, 0x202e), ...range(0x2066, 0x2069)],
]

test('the forbidden characters are refused, except tabs and line breaks in text of several lines, which become blanks', () => {
  const refusedIn = (schema: v.GenericSchema) =>
    forbidden.filter((one) => messagesOf(schema, `a${one}b`).join() === CONTROL)
  expect(refusedIn(short)).toEqual(forbidden)
  expect(refusedIn(lines)).toEqual(forbidden.filter((one) => !'\t\n\r'.includes(one)))
  expect(v.parse(lines, 'Rent\r\nJanuary\tpaid')).toBe('Rent  January paid')
})

test.each([
  ['an escape of a terminal', '\u{1B}[2J', '\\u001b[2J'],
  ['a line of a log', 'ok\r\n{"level":"INFO"}', 'ok\\u000d\\u000a{"level":"INFO"}'],
  ['a tag', '<script>&lt;', '\\u003cscript\\u003e\\u0026lt;'],
  ['half a pair', '\u{D800}x', '\\ud800x'],
  ['letters of any script', `é\u{6F22}${FAMILY}`, `é\u{6F22}${FAMILY}`],
])('an input of a third party is escaped only where it is active: %s', (_, input, output) => {
  expect(escaped(input)).toBe(output)
})

test('only the active characters are escaped, and all of them', () => {
  const active = [...forbidden, '\u{2028}', '\u{2029}', '<', '>', '&']
  for (const character of active) expect(escaped(character)).toMatch(/^\\u[0-9a-f]{4}$/)
  const unit = fc.oneof(fc.constantFrom(...active), fc.string({ unit: 'binary', maxLength: 3 }))
  fc.assert(
    fc.property(fc.array(unit), (units) => {
      const output = escaped(units.join(''))
      expect(active.filter((character) => [...output].includes(character))).toEqual([])
    }),
  )
})
