import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { pesewas } from '../../shared/domain/money.ts'
import { type Batch, openBatch } from '../../shared/domain/settlement/batch.ts'
import { toDebitItem } from '../../shared/store/debits/debit-item.ts'
import { toBatchItem } from '../../shared/store/settlement/batch-item.ts'
import { NOON, pendingDebit, providerId } from '../support/examples.ts'
import { useFreshTable } from '../support/tables.ts'
import { advanced, mockQueues, record, runRelay } from './relay-records.ts'

process.env.POWERTOOLS_METRICS_DISABLED = 'false'

const written: string[] = []
const spy = vi
  .spyOn(process.stdout, 'write')
  .mockImplementation((part) => written.push(String(part)) > 0)
afterAll(() => spy.mockRestore())

mockQueues()
beforeAll(useFreshTable)

/** Returns the metrics of one change, without the fields of every line. */
const metricsOf = async (next: object, old?: object) => {
  written.length = 0
  expect(await runRelay(record('1', next, old))).toEqual({ batchItemFailures: [] })
  return written
    .flatMap((part) => part.trim().split('\n'))
    .map((line) => {
      const { _aws, service, ...metrics } = JSON.parse(line)
      expect(service).toBe('debit-collection-sandbox')
      return metrics
    })
}

const charged = pendingDebit({ amount: pesewas(100_00) })
const processing = advanced(charged, 'processing')
const completed = advanced(processing, 'completed')

test.each([
  ['created', charged, undefined, [{ DebitsCharged: 1, ChargedPesewas: 100_00 }]],
  ['processing', processing, charged, []],
  ['completed', completed, processing, [{ DebitsCompleted: 1, CompletedPesewas: 100_00 }]],
  ['failed', advanced(processing, 'failed'), processing, [{ DebitsFailed: 1 }]],
  ['reversed', advanced(completed, 'reversed'), completed, [{ DebitsReversed: 1 }]],
  ['rescheduled only', completed, completed, []],
])('the metrics of a debit that is %s', async (_event, next, old, metrics) => {
  expect(await metricsOf(toDebitItem(next), old && toDebitItem(old))).toEqual(metrics)
})

test('two transitions in one record are measured in one line', async () => {
  expect(await metricsOf(toDebitItem(completed))).toEqual([
    { DebitsCharged: 1, ChargedPesewas: 100_00, DebitsCompleted: 1, CompletedPesewas: 100_00 },
  ])
})

const open: Batch = openBatch({
  id: 'STL-20261122-ABC123' as Batch['id'],
  uuid: '02bc8ee8-2077-4e35-adbe-3d99cb687ee1' as Batch['uuid'],
  provider: providerId('demo'),
  date: '2026-11-22' as Batch['date'],
  n: 1,
  createdAt: NOON,
  feeSchedule: null,
})
const totals = {
  count: 3,
  debits: 2,
  gross: pesewas(200_00),
  fee: pesewas(3_00),
  adjustments: -98_50 as Batch['outstanding'],
  net: pesewas(98_50),
}

test('a batch is measured once, when its totals are written', async () => {
  const totalled = { ...open, sealedAt: NOON, totals }
  expect(await metricsOf(toBatchItem(open))).toEqual([])
  expect(await metricsOf(toBatchItem(totalled), toBatchItem(open))).toEqual([
    {
      SettledDebits: 2,
      SettledGrossPesewas: 200_00,
      SettledFeePesewas: 3_00,
      SettledNetPesewas: 98_50,
    },
  ])
  const reported = { ...totalled, reportedAt: NOON }
  expect(await metricsOf(toBatchItem(reported), toBatchItem(totalled))).toEqual([])
})
