import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { dayOf } from '../../shared/domain/time.ts'
import { payBatch } from '../../shared/settlement/pay.ts'
import { runSettlement } from '../../shared/settlement/run.ts'
import { listBatches } from '../../shared/store/settlement/batches.ts'
import { still } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'
import { readBooks, violationsIn } from './books.ts'
import { type FakeBank, fakeBank, protocolViolations } from './fake-bank.ts'
import { type Interceptor, intercept } from './intercept.ts'
import { at, completedDebits, newProvider, reverse } from './one-provider.ts'
import { useReportShelf } from './report-shelf.ts'

/** Injects what DynamoDB Local never does: conflicts, and replies that are lost after the commit. */

beforeAll(useFreshTable)
const shelf = useReportShelf()

const pauses: number[] = []
let runs = 0
beforeEach(() => {
  pauses.length = 0
  runs = 0
})

const timeout = () => Object.assign(new Error('socket hang up'), { name: 'TimeoutError' })

const isTransaction = (name: string): boolean => name.includes('TransactWrite')
const isWrite = (name: string): boolean => /TransactWrite|PutItem/.test(name)
const isCall = (name: string): boolean => !name.startsWith('try ') && isWrite(name)
const isAttempt = (name: string): boolean => name.startsWith('try ') && isWrite(name)

/**
 * Settles four nights with a reversal after the first; a run that fails is repeated.
 * @param newInterceptor by night
 * @returns amounts and batches without ids, which differ between providers
 */
const settleNights = async (newInterceptor: () => Interceptor) => {
  const provider = await newProvider({ account: '1041001001' })
  const bank = fakeBank()
  const [large] = await completedDebits(provider, [100_00, 40_00], at('09:00:00'))
  await completedDebits(provider, [5_00], at('09:00:00', 1))
  await completedDebits(provider, [500_00], at('09:00:00', 2))
  for (const night of [1, 2, 3, 4]) {
    await intercept(newInterceptor(), () => untilDone(() => settle(provider, bank, night)))
    if (large) await reverse(large.facts.reference, at('12:00:00', night))
  }
  const books = await readBooks(provider)
  expect(violationsIn(books)).toEqual([])
  expect(protocolViolations(bank)).toEqual([])
  const { debits, lines, batches } = books
  const places = new Map(batches.map(({ id, date, n }) => [id, `${date}#${n}`]))
  const placeOf = (id?: string | null) => (id ? places.get(id) : undefined)
  return {
    payments: [...bank.paid.values()],
    debits: debits
      .map((debit) =>
        [debit.amount, debit.status, placeOf(debit.settledIn), placeOf(debit.adjustedIn)].join(' '),
      )
      .sort(),
    lines: lines
      .map(({ pk, type, gross, net }) =>
        [placeOf(pk.slice('BATCH#'.length)), type, gross, net].join(' '),
      )
      .sort(),
    batches: batches
      .map(({ id, status, totals, paid, outstanding, offsets, offsetBy }) => ({
        place: placeOf(id) ?? '',
        status,
        totals,
        paid,
        outstanding,
        offsets: offsets.map(({ batch, amount }) => [placeOf(batch), amount]),
        offsetBy: placeOf(offsetBy),
      }))
      .sort((one, other) => one.place.localeCompare(other.place)),
  }
}

const settle = async (provider: ProviderId, bank: FakeBank, night: number) => {
  runs += 1
  const now = at('00:00:01', night)
  const runtime = still({
    now: () => now,
    random: () => 0.5,
    pause: async (milliseconds) => {
      pauses.push(milliseconds)
    },
  })
  const deps = { runtime, connectors: bank.connectors }
  await runSettlement({ date: dayOf(now), providers: [provider] }, deps)
  // As the sweep does.
  for (const { id, status } of await listBatches(provider, { limit: 100 })) {
    if (status === 'processing') await payBatch(id, deps)
  }
}

const RUNS_MAX = 40

const untilDone = async (work: () => Promise<void>): Promise<void> => {
  for (let run = 1; ; run += 1) {
    try {
      return await work()
    } catch (error) {
      if (run === RUNS_MAX || error instanceof Refusal) throw error
    }
  }
}

/** Replaces every other matching call: a repeat of a replaced call goes through. */
const everyOther = (applies: (name: string) => boolean, replaced: Interceptor) => {
  let calls = 0
  return (): Interceptor => (call, next) => {
    if (!applies(call.name)) return next()
    calls += 1
    return calls % 2 === 1 ? replaced(call, next) : next()
  }
}

const cancelled = (...codes: string[]) =>
  new TransactionCanceledException({
    $metadata: {},
    message: 'cancelled',
    CancellationReasons: codes.map((Code) => ({ Code })),
  })

const conflictOf = (name: string): Error =>
  isTransaction(name)
    ? cancelled('ConditionalCheckFailed', 'None', 'TransactionConflict')
    : new TransactionConflictException({ $metadata: {}, message: 'conflict' })

/** The reply to a repeat without the idempotency token of the first write. */
const conditionFailure = (name: string): Error =>
  isTransaction(name)
    ? cancelled('ConditionalCheckFailed', ...Array(90).fill('ConditionalCheckFailed'))
    : new ConditionalCheckFailedException({ $metadata: {}, message: 'failed' })

describe('the outcome of four nights', () => {
  let undisturbed: Awaited<ReturnType<typeof settleNights>>
  beforeAll(async () => {
    undisturbed = await settleNights(() => (_, next) => next())
  })

  test('a batch below zero is offset by the next, and the others are paid', () => {
    expect(undisturbed).toMatchObject({
      payments: [140_00, 405_00],
      batches: [
        { status: 'completed', paid: 140_00, offsets: [] },
        { status: 'completed', totals: { net: -95_00 }, outstanding: 0, offsetBy: '2026-11-25#1' },
        { status: 'completed', paid: 405_00, offsets: [['2026-11-24#1', 95_00]] },
      ],
    })
  })

  test('is the same, without a repeated run, if each write first meets a conflict', async () => {
    const conflict = everyOther(isCall, async ({ name }) => {
      throw conflictOf(name)
    })
    expect(await settleNights(conflict)).toEqual(undisturbed)
    expect(runs).toBe(4)
    expect(pauses.length).toBeGreaterThan(0)
  })

  test.each([
    ['the reply to each write is lost and the client retries it', isAttempt, timeout],
    ['each write is repeated without its token', isCall, conditionFailure],
  ] as const)('is the same, without a repeated run, if %s', async (_, applies, error) => {
    const losing = everyOther(applies, async ({ name }, next) => {
      await next()
      throw error(name)
    })
    expect(await settleNights(losing)).toEqual(undisturbed)
    expect(runs).toBe(4)
  })

  test('is the same if the reply to each write is lost for good and the run is repeated', async () => {
    const losing = everyOther(isCall, async (_, next) => {
      await next()
      throw timeout()
    })
    expect(await settleNights(losing)).toEqual(undisturbed)
  })

  test('includes one content per report', () => {
    expect(shelf.differing).toEqual([])
  })
})
