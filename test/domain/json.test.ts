import fc from 'fast-check'
import { expect, test } from 'vitest'
import { repeatsKey } from '../../shared/domain/json.ts'

test.each([
  [true, '{"a":1,"a":1}'],
  [true, '{"a" : 1, "b": {"c": []}, "\\u0061": 2}'],
  [true, '[{"b":[{"a":1,"x":{},"a":2}]}]'],
  [true, '{"\\"":1,"\\u0022":2}'],
  [false, '{"a":{"a":{"a":"a"}},"b":[{"a":1},{"a":2}]}'],
  [false, '["a","a",{"a":"{\\"a\\":1"},"a:"]'],
  [false, '"a"'],
])('a key is repeated: %s, in %s', (isRepeated, json) => {
  JSON.parse(json)
  expect(repeatsKey(json)).toBe(isRepeated)
})

test('a text that `JSON.stringify` wrote repeats no key', () => {
  fc.assert(fc.property(fc.json(), (json) => !repeatsKey(json)))
})
