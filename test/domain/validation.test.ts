import * as v from 'valibot'
import { expect, test } from 'vitest'
import { parseInput } from '../../shared/domain/validation.ts'
import { refused } from '../support/refused.ts'

test.each(['__proto__', 'constructor', 'toString'])('the refused field %s is reported', (name) => {
  const input = JSON.parse(`{"${name}":{}}`)
  const { code, details } = refused(parseInput(v.strictObject({}), input))
  expect([code, Object.keys(details as object)]).toEqual(['422/1007', [name]])
})
