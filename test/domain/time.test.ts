import { expect, test } from 'vitest'
import { Day, Month } from '../../shared/domain/time.ts'
import { messagesOf } from './messages-of.ts'

const years = 'must be in the years 2000 to 2199'

test.each([
  ['tomorrow', Day, 'must be a day like 2026-11-21'],
  ['2026-02-30', Day, 'must be a day of the calendar'],
  ['1999-02-29', Day, 'must be a day of the calendar'],
  ['1999-12-31', Day, years],
  ['2200-01-01', Day, years],
  ['1999-13', Month, 'must be a month like 2026-11'],
  ['2200-01', Month, years],
])('the refusal of %s has one message', (input, schema, message) => {
  expect(messagesOf(schema, input)).toEqual([message])
})
