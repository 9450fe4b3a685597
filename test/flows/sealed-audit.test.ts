import { expect, test } from 'vitest'
import { actingAs } from '../../sandbox/authorizer.ts'
import { putLines, readDigest } from '../../shared/audit/bucket.ts'
import { type Day, dayAfter, dayOf } from '../../shared/domain/time.ts'
import { createPayee } from '../support/payee.ts'
import { SILENT } from '../support/requests.ts'
import { testInProcess, useService } from '../support/running-service.ts'

/** Nights that seal the days of a sandbox by its clock (docs/audit.md). */

const service = useService()

const move = async (advance: string): Promise<Day> => {
  const init = { method: 'POST', body: JSON.stringify({ advance }) }
  const response = await fetch(`${service.sandbox().address}/sandbox/clock`, init)
  expect(response.status).toBe(200)
  return dayOf(service.sandbox().control.clock.now())
}

const verify = (from: Day, to: Day) => service.operate('change', 'verify', { from, to })

testInProcess('the nights of a sandbox seal its days, and a day of today is open', async () => {
  const today = await move('1m')
  const first = (day: Day) => service.call('change', 'verify', { from: day, to: day })
  expect(await first(today)).toEqual([{ day: today, result: 'open' }])
  const payee = await createPayee(service, 'audited')
  await payee.complete('10.00')
  const { uuid } = await service.chargeUntil('processing', { phone_number: SILENT })
  const declined = { status: 'failed', bank_reference: 'B-0', error_message: 'No funds' }
  const completed = { status: 'completed', bank_reference: 'B-1' }
  for (const [report, status] of [
    [declined, 200],
    [completed, 422],
  ] as const)
    expect((await service.report(uuid, report)).status).toBe(status)
  await move('50h')
  const days = [today, dayAfter(today)] as const
  const sealed = days.map((day) => ({ day, result: 'ok' }))
  const open = { day: dayAfter(today, 2), result: 'open' }
  expect(await verify(today, open.day)).toEqual({ result: [...sealed, open] })
})

test('a verification has at most 400 days', async () => {
  const from = '2026-11-21' as Day
  const { result } = (await verify(from, dayAfter(from, 399))) as { result: unknown[] }
  expect(result).toHaveLength(400)
  expect(await verify(from, dayAfter(from, 400))).toEqual({
    error: '--to: must be within 400 days',
  })
})

async function* breakingOff() {
  for (let n = 0; n < 6; n += 1) yield 'x'.repeat(1024 * 1024)
  throw new Error('The lines break off')
}

testInProcess(
  'a failed upload of a file aborts the written parts, and stores nothing',
  async () => {
    const day = '2026-11-21' as Day
    const writing = actingAs('reconcile-part', () => putLines(day, 'changes', breakingOff()))
    await expect(writing).rejects.toThrow('break off')
    expect(await actingAs('manage-change', () => readDigest(day, 'changes'))).toBeUndefined()
  },
)
