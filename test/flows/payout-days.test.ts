import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { dayAfter, dayOf, HOUR_MS } from '../../shared/domain/time.ts'
import { operateFully } from '../../shared/operator/operate.ts'
import { printed, type Shown, testInProcess, useService } from '../support/running-service.ts'

/** Payouts on working days, by the clock of a sandbox (docs/settlement.md#payout-days). */

const service = useService()
const { call } = service
const clock = () => service.sandbox().control.clock

const today = () => dayOf(clock().now())

/** Moves the clock to the next time of a weekday, such as 5 for Friday. */
const moveTo = async (weekday: number, time: string): Promise<void> => {
  const now = clock().now()
  const day = dayAfter(today(), (weekday + 7 - now.getUTCDay()) % 7)
  const at = Date.parse(`${day}T${time}Z`)
  const ahead = at - now.getTime()
  await clock().advance(ahead > 0 ? ahead : ahead + 7 * 24 * HOUR_MS)
}

const batches = async (): Promise<Shown[]> =>
  (await service.get('/api/v1/payment-providers/settlements')).body.data

/** Calls a verb as the command does, with a file. */
const setCalendar = async (year: string, file: string) =>
  operateFully(
    { noun: 'calendar', verb: 'set', options: { year, file: 'holidays.csv' } },
    ({ noun, verb, options }) => service.operate(noun, verb, options),
    { file: [Buffer.from(file)] },
  )

testInProcess(
  'a debit of Friday noon is paid on Monday, which its settlement says on Saturday',
  async () => {
    await call('bank', 'update', { bank: 'GCB', 'payout-days': 'working' })
    await moveTo(5, '12:00:00')
    await service.chargeUntil('processing')
    await moveTo(6, '12:00:00')
    const [saturday] = await batches()
    expect(saturday).toMatchObject({ status: 'pending', payable_on: dayAfter(today(), 2) })
    const refused = { error: `${today()} is no working day of GCB: --any-day true pays` }
    expect(await service.operate('settlement', 'process', { batch: saturday.id })).toEqual(refused)
    await moveTo(0, '23:59:00')
    expect(await batches()).toMatchObject([{ id: saturday.id, status: 'pending' }])
    await moveTo(1, '00:30:00')
    expect(await batches()).toMatchObject([{ id: saturday.id, status: 'completed' }])
  },
)

testInProcess(
  'a holiday declared on its eve delays a payout by a night, and an operator can pay before',
  async () => {
    await moveTo(1, '12:00:00')
    await service.chargeUntil('processing')
    await moveTo(2, '12:00:00')
    const [batch] = await batches()
    const wednesday = batch.payable_on
    await call('calendar', 'add', { date: wednesday, name: 'Declared today' })
    await moveTo(3, '02:30:00')
    expect(await batches()).toMatchObject([{ id: batch.id, status: 'pending' }, {}])
    const { open } = await call('day', 'close', { date: wednesday })
    expect(open.filter(({ check }: Shown) => check === 'batch')).toEqual([])
    const options = { batch: batch.id, 'any-day': 'true' }
    expect(await call('settlement', 'process', options)).toMatchObject({ status: 'completed' })
  },
)

test.each(['2026', '2027'])('the example calendar of %s is accepted', async (year) => {
  const file = readFileSync(`docs/fixtures/holidays-${year}.csv`, 'utf8')
  const { days }: Shown = printed(await setCalendar(year, file))
  expect(days).toHaveLength(14)
  expect(await call('calendar', 'show', { year })).toEqual({ year, days })
  const [change] = await call('change', 'list', {})
  expect(change).toMatchObject({ noun: 'calendar', verb: 'set', target: year })
})

test.each([
  ['', '--file: line 1: column date, name is missing'],
  ['date,name\n', '--file: line 1: a row with a holiday is missing'],
  ['date\n2026-01-01', '--file: line 1: column name is missing'],
  ['date,name\n2027-01-01,x', '--file: line 2: is not in 2026'],
  ['date,name\n2026-02-29,x', '--file: line 2: must be a day of the calendar'],
  ['date,name\n2026-01-01,x\n2026-01-01,y', '--file: line 3: 2026-01-01 is there twice'],
  ['date,name\n2026-12-25,Christmas, observed', '--file: line 2: 3 fields, but 2 columns'],
  ['date,name\n2026-01-01,', '--file: line 2: is required'],
])('the calendar %j is refused with its line', async (file, error) => {
  expect(await setCalendar('2026', file)).toMatchObject({ error: expect.stringContaining(error) })
})

test('the job of a night in December looks for the calendars of both years', async () => {
  const december = Date.UTC(new Date().getUTCFullYear() + 1, 11, 2)
  const ahead = Math.ceil((december - Date.now()) / 1_000)
  expect(await service.runJob('reconcile-day', {}, ahead)).toEqual({ batchItemFailures: [] })
})
