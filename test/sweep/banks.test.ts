import { beforeEach, expect, test } from 'vitest'
import type { BankHealth } from '../../shared/domain/banks/health.ts'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import { changeBankHealth } from '../../shared/store/banks/health.ts'
import { wait, waitingPages } from '../../shared/store/banks/waiting.ts'
import { sweepBanks } from '../../shared/sweep/banks.ts'
import { gathered, useQueues } from '../settlement/messages-sent.ts'
import { gcb, inSeconds, pendingDebit, still } from '../support/examples.ts'
import { captureOutput } from '../support/output.ts'
import { storeBank } from '../support/settings.ts'
import { useFreshTable } from '../support/tables.ts'

/** The debits that wait for a bank which was down (docs/architecture.md#health-of-banks). */

const { refusing } = useQueues()
process.env.METRICS_DISABLED = 'false'
const { clear, metrics } = captureOutput()
const RECOVERED: BankHealth = { state: 'up', failures: 0, recoveredAt: inSeconds(0) }

beforeEach(async () => {
  clear()
  refusing.splice(0)
  await useFreshTable()
  await storeBank(gcb)
  await changeBankHealth(gcb.identifier, () => RECOVERED, inSeconds(0))
})

/** Stores the waits of debits that were charged these seconds before the recovery. */
const waiting = async (...secondsBefore: number[]): Promise<string[]> => {
  const debits: Debit[] = secondsBefore.map((seconds) => pendingDebit({}, inSeconds(-seconds)))
  await Promise.all(debits.map(wait))
  return debits.map(({ facts: { reference } }) => reference)
}

const sweepAt = async (seconds: number, timeIsUp = () => false) =>
  (await gathered(() => sweepBanks(still({ now: () => inSeconds(seconds) }), timeIsUp))).map(
    ({ queue, body, delaySeconds }) => ({ queue, body, delaySeconds }),
  )

const left = async (): Promise<string[]> =>
  (await Array.fromAsync(waitingPages(gcb.identifier, { after: inSeconds(-3_600), pageSize: 10 })))
    .flat()
    .map(({ reference }) => reference)

test('the debits that wait for a bank are submitted once after its recovery, the oldest first', async () => {
  const [older, newer] = await waiting(90, 30)
  const sent = await sweepAt(20)
  expect(sent.map(({ body }) => body.reference)).toEqual([older, newer])
  // Until then a worker may take the bank for down, and the debits would wait again.
  expect(sent[0]).toMatchObject({ queue: 'submissions', delaySeconds: 5 })
  expect(sent[0]?.body).toMatchObject({ resubmission: true })
  expect([await left(), await sweepAt(80)]).toEqual([[], []])
})

test('a debit whose message SQS refuses waits for the next run', async () => {
  const [older, newer] = await waiting(90, 30)
  refusing.push({ queue: 'submissions', index: 0 })
  await sweepAt(20)
  expect(await left()).toEqual([older])
  refusing.splice(0)
  expect((await sweepAt(80)).map(({ body }) => body.reference)).toEqual([older])
  expect([newer, await left()]).toEqual([newer, []])
})

test('a debit that waits ten minutes after the recovery, or that has no time left, stays', async () => {
  const [old] = await waiting(700)
  expect(await sweepAt(20)).toEqual([])
  const [late] = await waiting(30)
  expect(await sweepAt(601)).toEqual([])
  expect(await left()).toEqual([old, late])
})

test('a run whose time is up submits one page of the debits that wait, and the next run continues', async () => {
  const references = await waiting(...Array<number>(501).fill(30))
  const sent = [await sweepAt(20, () => true), await sweepAt(80)]
  expect(sent.map(({ length }) => length)).toEqual([500, 1])
  expect(new Set(sent.flat().map(({ body }) => body.reference))).toEqual(new Set(references))
})

test('a bank that is down and lost its connector is not probed, and counts no fault', async () => {
  await storeBank({ ...gcb, connector: 'none' })
  const down = { state: 'down', failures: 9, failingSince: inSeconds(0) } as const
  await changeBankHealth(gcb.identifier, () => down, inSeconds(0))
  expect(await sweepAt(20)).toEqual([])
  expect(metrics()).toEqual([])
})
