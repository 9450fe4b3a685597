import { expect, test } from 'vitest'
import type { ApiEvent } from '../../shared/api/context.ts'
import { bodyGuards, queryGuard } from '../../shared/api/input-guards.ts'
import { operations } from '../../shared/api/operations.ts'
import { failureCode } from '../../shared/domain/banks/failure-code.ts'
import { Fee } from '../../shared/domain/money.ts'
import { messagesOf } from '../domain/messages-of.ts'

/** Callers and banks choose the length of these texts. */

const readType = (type: string) => {
  const [guard] = bodyGuards(operations.charge)
  const context = { headers: new Map([['content-type', [type]]]) }
  return () => guard?.before?.({ event: { body: '{}', context } as unknown as ApiEvent } as never)
}

const readQuery = (names: string[]) => {
  const guard = queryGuard(operations['list-debit-requests'])
  const multiValueQueryStringParameters = Object.fromEntries(names.map((name) => [name, ['1']]))
  const event = { context: {}, multiValueQueryStringParameters }
  return () => guard.before?.({ event } as never)
}

const readers: Record<string, (size: number) => () => unknown> = {
  'zeros before the last digit of a fee': (size) => () => messagesOf(Fee, `0.${'0'.repeat(size)}1`),
  'blanks in a charset': (size) => readType(`application/json; charset=${' '.repeat(size)};`),
  'blanks in a quoted charset': (size) =>
    readType(`application/json; charset="${' '.repeat(size)}"x`),
  'parameters of one name': (size) =>
    readQuery(Array.from({ length: size / 8 }, (_, index) => `page[${index}]`)),
  'blanks in an explanation': (size) => () => failureCode(`account${' '.repeat(size)}x`),
}

/** Returns the least of several times, which other load changes least. */
const timeOf = (read: () => unknown): number => {
  const times = Array.from({ length: 5 }, () => {
    const start = performance.now()
    try {
      read()
    } catch {
      // A refusal is a result, too.
    }
    return performance.now() - start
  })
  return Math.min(...times)
}

test.each(Object.entries(readers))('the time to read %s grows linearly', (_, reader) => {
  const [one, four] = [reader(4_000), reader(16_000)].map(timeOf)
  // Linear readers take four times as long, quadratic ones sixteen times.
  expect((four ?? 0) / (one ?? 0)).toBeLessThan(10)
})
