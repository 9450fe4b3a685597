import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { escaped, text } from '../../shared/domain/text.ts'

const messages = (schema: ReturnType<typeof text>, input: unknown): string[] =>
  v.safeParse(schema, input).issues?.map(({ message }) => message) ?? []

const short = text({ max: 50 })
const lines = text({ max: 100, lines: true })

// Man, woman and girl joined: one sign to read, five code points, eight UTF-16 units.
const FAMILY = '\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}'

describe('length in code points', () => {
  test.each([
    ['50 letters', 'a'.repeat(50), []],
    ['51 letters', 'a'.repeat(51), ['must not exceed 50 characters']],
    ['50 faces', '\u{1F600}'.repeat(50), []],
    ['51 faces', '\u{1F600}'.repeat(51), ['must not exceed 50 characters']],
    ['10 families', FAMILY.repeat(10), []],
    ['10 families and a letter', `${FAMILY.repeat(10)}a`, ['must not exceed 50 characters']],
    ['50 precomposed letters', '\u{E9}'.repeat(50), []],
    ['26 decomposed letters', 'e\u{301}'.repeat(26), ['must not exceed 50 characters']],
    ['a million letters', 'a'.repeat(1_000_000), ['must not exceed 50 characters']],
  ])('the limit of 50 code points applies to %s', (_what, input, refusals) => {
    expect(messages(short, input)).toEqual(refusals)
  })

  test('the length of any script is counted in code points', () => {
    const unit = fc.constantFrom('a', '\u{E9}', '\u{6F22}', '\u{1F600}', '\u{1F1EC}')
    fc.assert(
      fc.property(fc.array(unit, { minLength: 1, maxLength: 12 }), (units) => {
        const accepted = v.is(text({ max: 6 }), units.join(''))
        expect(accepted).toBe(units.length <= 6)
      }),
    )
  })
})

describe('required text', () => {
  test.each([
    [undefined, 'is required'],
    [null, 'is required'],
    ['', 'is required'],
    ['   ', 'is required'],
    ['\u{A0}\u{3000}', 'is required'],
    [5, 'must be a string'],
    [false, 'must be a string'],
    [['a'], 'must be a string'],
    [{ a: 1 }, 'must be a string'],
  ])('the input %j %s', (input, message) => {
    expect(messages(short, input)).toEqual([message])
  })

  test('text of line breaks only is blank', () => {
    expect(messages(lines, '\r\n\t')).toEqual(['is required'])
  })

  test.each([
    '\u{200B}',
    '\u{FEFF}',
    '\u{2060}',
    '\u{AD}',
    '\u{3164}',
    '\u{2800}',
    ' \u{200D}\u{FE0F} ',
  ])('text of invisible characters only is blank: %j', (input) => {
    expect(messages(short, input)).toEqual(['is required'])
    expect(messages(short, `a${input}`)).toEqual([])
  })
})

const range = (first: number, last: number): string[] =>
  Array.from({ length: last - first + 1 }, (_, n) => String.fromCharCode(first + n))

const forbidden = {
  'C0 controls': range(0x00, 0x1f),
  'delete and C1 controls': range(0x7f, 0x9f),
  'lone surrogates': ['\u{D800}', '\u{DBFF}', '\u{DC00}', '\u{DFFF}'],
  'bidirectional marks': ['\u{61C}', '\u{200E}', '\u{200F}'],
  'bidirectional embeddings and overrides': range(0x202a, 0x202e),
  'bidirectional isolates': range(0x2066, 0x2069),
}

const refusedIn = (schema: ReturnType<typeof text>, characters: readonly string[]): string[] =>
  characters.filter((character) =>
    messages(schema, `a${character}b`).includes(
      'must not contain control or invisible formatting characters',
    ),
  )

describe('forbidden characters', () => {
  test.each(Object.entries(forbidden))('%s are refused', (_kind, characters) => {
    expect(refusedIn(short, characters)).toEqual(characters)
  })

  test('multi-line text may contain tabs and line breaks only', () => {
    const characters = Object.values(forbidden).flat()
    const tolerated = characters.filter((one) => !refusedIn(lines, characters).includes(one))
    expect(tolerated).toEqual(['\t', '\n', '\r'])
  })
})

const data = [
  '<b>Rent</b> & "more"',
  "Robert'); DROP TABLE debits;--",
  '../../etc/passwd%00',
  'a#b|c/d',
  `${FAMILY} \u{6F22}\u{5B57}`,
  '\u{FFFD}',
  ' leading and trailing ',
]

test.each(data)('text that looks like code is unchanged: %j', (input) => {
  expect(v.parse(short, input)).toBe(input)
})

test('two lines are unchanged', () => {
  expect(v.parse(lines, 'Rent\r\nJanuary\tpaid')).toBe('Rent\r\nJanuary\tpaid')
})

describe('escaped text of third parties', () => {
  const separators = ['\u{2028}', '\u{2029}']
  const markup = ['<', '>', '&']
  const active = [...Object.values(forbidden).flat(), ...separators, ...markup]

  test.each([
    ['an escape of a terminal', '\u{1B}[2J', '\\u001b[2J'],
    ['a line of a log', 'ok\r\n{"level":"INFO"}', 'ok\\u000d\\u000a{"level":"INFO"}'],
    ['a tag', '<script>', '\\u003cscript\\u003e'],
    ['an entity', '&lt;', '\\u0026lt;'],
    ['an override', 'a\u{202E}b', 'a\\u202eb'],
    ['half a pair', '\u{D800}x', '\\ud800x'],
    ['letters of any script', `é\u{6F22}${FAMILY}`, `é\u{6F22}${FAMILY}`],
    ['nothing', '', ''],
  ])('%s is escaped only where it is active', (_what, input, output) => {
    expect(escaped(input)).toBe(output)
  })

  test('exactly the active characters are escaped', () => {
    for (const character of active) expect(escaped(character)).toMatch(/^\\u[0-9a-f]{4}$/)
    const unit = fc.oneof(fc.constantFrom(...active), fc.string({ unit: 'binary', maxLength: 3 }))
    fc.assert(
      fc.property(fc.array(unit), (units) => {
        const output = escaped(units.join(''))
        expect(active.filter((character) => [...output].includes(character))).toEqual([])
        expect(escaped(output)).toBe(output)
      }),
    )
  })
})
