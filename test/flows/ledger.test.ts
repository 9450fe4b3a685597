import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeAll, expect, test, vi } from 'vitest'
import { actingAs } from '../../sandbox/authorizer.ts'
import type { BatchId } from '../../shared/domain/ids.ts'
import { pesewas } from '../../shared/domain/money.ts'
import { withSums } from '../../shared/domain/settlement/batch.ts'
import { type Day, dayAfter, dayOf } from '../../shared/domain/time.ts'
import { sqs } from '../../shared/queues/send.ts'
import { keys } from '../../shared/store/keys.ts'
import { toBatchItem } from '../../shared/store/settlement/batch-item.ts'
import { chunkId, toChunkItem } from '../../shared/store/settlement/chunk-item.ts'
import { findFunds } from '../../shared/store/settlement/funding.ts'
import { putClosing } from '../../shared/store/settlement/ledger-days.ts'
import { findRun } from '../../shared/store/settlement/reconciliations.ts'
import { put } from '../../shared/store/table.ts'
import { complete } from '../settlement/one-provider.ts'
import { batch, numberedLine } from '../settlement/report/one-batch.ts'
import { eventually } from '../support/eventually.ts'
import { pendingDebit, providerId } from '../support/examples.ts'
import { createPayee, nightAfter, type Payee } from '../support/payee.ts'
import { type Shown, testInProcess, useService } from '../support/running-service.ts'
import { storeDebit } from '../support/settings.ts'
import { aroundTableCalls } from '../support/table-calls.ts'

/** The double-entry journal of a day and the remittances of banks (docs/api.md#ledger). */

const service = useService()

const today = dayOf(new Date())
const yesterday = dayAfter(today, -1)
const earlier = dayAfter(today, -2)

const ledger = (date: Day): Promise<Shown> => service.call('ledger', 'show', { date })

const fund = (reference: string, options: Record<string, string> = {}) => ({
  ...{ bank: 'GCB', amount: '500.00', reference, date: today },
  ...options,
})

const noon = (day: Day): Date => new Date(`${day}T12:00:00.000Z`)

/** Writes a debit that was charged and completed on a past day. */
const completedOn = async (day: Day, provider: string, amount: number): Promise<string> => {
  const debit = pendingDebit({ provider: providerId(provider), amount: pesewas(amount) }, noon(day))
  await storeDebit(debit)
  await complete(debit, noon(day))
  return debit.facts.reference
}

const entriesOf = ({ entries }: Shown, type: string): Shown[] =>
  entries.filter((entry: Shown) => entry.type === type)

const account = ({ accounts }: Shown, name: string): Shown =>
  accounts.find((row: Shown) => row.account === name)

let payee: Payee
let old: string
let settled: Shown

beforeAll(async () => {
  payee = await createPayee(service, 'booked')
  old = await completedOn(earlier, 'booked', 40_00)
  settled = (await payee.run(yesterday)).built[0]
  const { reference } = await service.chargeCompletedLate()
  await service.call('exception', 'refund', { reference })
  await service.untilRefund(reference, 'completed')
  await service.call('funding', 'record', fund('R-BEFORE', { date: earlier, amount: '10.00' }))
  await payee.run(nightAfter(1))
})

test('the ledger of a past day has each entry with its source, and the accounts', async () => {
  const day = await ledger(earlier)
  expect(day).toMatchObject({ date: earlier, currency: 'GHS', trial_balance: '0.00' })
  expect(entriesOf(day, 'completion')).toEqual([
    {
      ...{ time: `${earlier}T12:00:00.000Z`, type: 'completion' },
      ...{ source: { type: 'debit', id: old }, description: 'The bank debited the customer' },
      lines: [
        { account: 'bank_receivable:GCB', debit: '40.00', credit: '0.00' },
        { account: 'provider_payable:booked', debit: '0.00', credit: '40.00' },
      ],
    },
  ])
  expect(account(day, 'bank_receivable:GCB')).toEqual({
    ...{ account: 'bank_receivable:GCB', opening: '0.00', closing: '30.00' },
    ...{ debit: '40.00', credit: '10.00' },
  })
  expect(account(day, 'cash')).toMatchObject({ debit: '10.00', closing: '10.00' })
})

// All kinds of entries: test/ledger/entries.test.ts.
test('the ledger of today has the fees, payouts and refunds', async () => {
  const day = await ledger(today)
  expect(day.trial_balance).toBe('0.00')
  expect(entriesOf(day, 'fees')).toMatchObject([{ source: { type: 'batch', id: settled.id } }])
  for (const type of ['payout', 'late_completion', 'refund_opened', 'refund']) {
    expect(entriesOf(day, type), type).toHaveLength(1)
  }
})

test('the CSV of the ledger has one record for each line', async () => {
  const text = await service.call('ledger', 'show', { date: earlier, format: 'csv' })
  expect(text.split('\r\n').slice(0, 2)).toEqual([
    'entry,time,type,source_type,source_id,reference,account,debit,credit,currency,description',
    `1,${earlier}T00:00:00.000Z,funding,funding,R-BEFORE,,cash,10.00,0.00,GHS,The bank remitted cash`,
  ])
})

const refusal = (options: Record<string, string>) => service.refusal('funding', 'record', options)

test('a remittance is recorded once, and the list has the newest first', async () => {
  const before = await findFunds()
  const recorded = await service.call('funding', 'record', fund('R-1'))
  expect(recorded).toMatchObject({ bank: 'GCB', reference: 'R-1', amount: '500.00', date: today })
  expect(await service.call('funding', 'record', fund('R-1'))).toEqual(recorded)
  const line = `GCB R-1 is recorded with 500.00 on ${today}`
  for (const other of [{ amount: '500.01' }, { date: yesterday }]) {
    expect(await refusal(fund('R-1', other))).toBe(line)
  }
  expect((await findFunds()) - before).toBe(500_00)
  const newest = await service.call('funding', 'list', { bank: 'GCB', limit: '1' })
  expect(newest).toEqual([recorded])
  // A remittance of an earlier day is not the newest, although it is recorded last.
  await service.call('funding', 'record', fund('R-LATE', { date: yesterday }))
  const listed: Shown[] = await service.call('funding', 'list')
  expect(listed.map(({ reference }) => reference)).toEqual(['R-1', 'R-LATE', 'R-BEFORE'])
  expect(await service.changeOf('R-1')).toMatchObject({ noun: 'funding', verb: 'record' })
})

test('a correction replaces the amount of a remittance by an entry of today, and can be repeated', async () => {
  const before = await findFunds()
  const openingOf = async () => account(await ledger(earlier), 'cash').closing
  const cash = await openingOf()
  const correct = (amount: string) =>
    service.call('funding', 'correct', { reference: 'R-BEFORE', amount, reason: 'Typing error' })
  const first = { from: '10.00', to: '25.00', reason: 'Typing error' }
  for (const _ of [1, 2]) {
    expect(await correct('25.00')).toMatchObject({ amount: '25.00', corrections: [first] })
  }
  const corrected = await correct('4.00')
  expect(corrected).toMatchObject({ amount: '4.00', corrections: [first, { from: '25.00' }] })
  expect((await findFunds()) - before).toBe(-6_00)
  expect(await service.call('funding', 'list')).toContainEqual(corrected)
  // The original values are still a repetition, and so are the present ones.
  const of = (amount: string) => fund('R-BEFORE', { date: earlier, amount })
  for (const amount of ['10.00', '4.00'])
    expect(await service.call('funding', 'record', of(amount))).toEqual(corrected)
  expect(await refusal(of('25.00'))).toBe(`GCB R-BEFORE is recorded with 4.00 on ${earlier}`)
  expect(await openingOf()).toBe(cash)
  const amounts = entriesOf(await ledger(today), 'funding_correction').map(
    ({ lines }: Shown) => `${lines[0].account} ${lines[0].debit}`,
  )
  expect(amounts).toEqual(['cash 15.00', 'bank_receivable:GCB 21.00'])
  const changed = { amount: { from: '25.00', to: '4.00' }, reason: { to: 'Typing error' } }
  expect(await service.changeOf('R-BEFORE')).toMatchObject({ verb: 'correct', changed })
})

testInProcess(
  'a correction that another operator overtakes begins at the other amount',
  async () => {
    await service.call('funding', 'record', fund('R-RACE', { amount: '7.00' }))
    const before = await findFunds()
    const correct = (amount: string) =>
      service.call('funding', 'correct', { reference: 'R-RACE', amount, reason: 'Typing error' })
    let isFirst = true
    const restore = aroundTableCalls(async (name, next, text) => {
      if (isFirst && name === 'TransactWrite' && text().includes('R-RACE')) {
        isFirst = false
        await correct('5.00')
      }
      return next()
    })
    const { corrections } = await correct('8.00').finally(restore)
    expect(corrections).toMatchObject([
      { from: '7.00', to: '5.00' },
      { from: '5.00', to: '8.00' },
    ])
    expect((await findFunds()) - before).toBe(1_00)
  },
)

test('a correction needs the bank if two banks have its reference', async () => {
  for (const bank of ['GCB', 'ECO'])
    await service.call('funding', 'record', { ...fund('R-2'), bank })
  const correct = (more: Record<string, string>) =>
    service.refusal('funding', 'correct', {
      reference: 'R-2',
      amount: '1.00',
      reason: 'x',
      ...more,
    })
  expect(await correct({})).toBe('--bank: is required: two banks have this reference')
  expect(await correct({ bank: 'ECO' })).toBeUndefined()
  expect(await correct({ reference: 'R-NONE' })).toBe('no such remittance')
})

testInProcess('a remittance of a future day is rejected in production only', async () => {
  const tomorrow = fund('R-4', { date: dayAfter(today) })
  expect(await refusal(tomorrow)).toBeUndefined()
  vi.stubEnv('LIMITS', 'production')
  expect(await refusal(tomorrow)).toBe('--date: must not be in the future')
  expect(await refusal(fund('R-5'))).toBeUndefined()
})

testInProcess('a future day is reconciled in sandboxes only', async () => {
  const date = dayAfter(today)
  expect(await service.call('reconciliation', 'run', { date })).toMatchObject({ differences: 0 })
  vi.stubEnv('LIMITS', 'production')
  const refused = service.refusal('reconciliation', 'run', { date })
  expect(await refused).toBe('--date: must not be in the future')
})

/** Stores a batch of 8,865.00 whose payout waits for funding. */
const waitingBatch = async (id: string) => {
  const provider = await createPayee(service, id)
  await completedOn(dayAfter(today, -4), id, 9_000_00)
  const batch: BatchId = (await provider.run(dayAfter(today, -3))).built[0].id
  vi.stubEnv('PAYOUTS_WAIT_FOR_FUNDING', 'true')
  const status = async () => (await provider.batch('show', batch)).status
  return { batch, status, remaining: await findFunds() }
}

testInProcess(
  'a payout that waits for funding starts when a correction, or its repeat after a crash, covers it',
  async () => {
    // Before payouts wait: a message of this call could pay after the correction.
    await service.call('funding', 'record', fund('R-TYPED', { amount: '886.50' }))
    const { batch, status, remaining } = await waitingBatch('corrected')
    expect(await status()).toBe('pending')
    const correction = { reference: 'R-TYPED', amount: '8865.00', reason: 'Typing error' }
    const correct = () => service.call('funding', 'correct', correction)
    const { send } = sqs
    const spy = vi
      .spyOn(sqs, 'send')
      .mockImplementation(((command: never) =>
        JSON.stringify(command).includes(batch)
          ? Promise.reject(new Error('The worker crashed'))
          : Reflect.apply(send, sqs, [command])) as never)
    await expect(correct()).rejects.toThrow('SQS refused 1 messages')
    spy.mockRestore()
    expect(await status()).toBe('pending')
    await correct()
    await eventually(async () => expect(await status()).toBe('completed'))
    expect(await findFunds()).toBe(remaining - 886_50)
  },
)

testInProcess('a payout that waits for funding starts when a remittance covers it', async () => {
  const { batch, status, remaining } = await waitingBatch('waiting')
  expect(remaining).toBeLessThan(8_865_00)
  expect(await service.refusal('settlement', 'process', { batch })).toMatch(
    /^the batch needs 8865\.00, and -?[0-9]+\.[0-9]{2} of the remitted cash is available$/,
  )
  await service.runJob('process-batch', { batch })
  expect(await status()).toBe('pending')
  await service.call('funding', 'record', fund('R-COVERS', { amount: '8865.00' }))
  await eventually(async () => expect(await status()).toBe('completed'))
  expect(await findFunds()).toBe(remaining)
})

test('`reconcile-day` finds no difference, and stores the balances of a past day', async () => {
  for (const date of [earlier, yesterday]) {
    const { invariants } = await service.call('reconciliation', 'run', { date })
    const found = invariants.find(({ number }: Shown) => number === 40)
    expect(found, date).toMatchObject({ checked: expect.any(Number), examples: [] })
  }
  expect(await service.runJob('reconcile-day')).toEqual({ batchItemFailures: [] })
  await eventually(async () => {
    expect(await actingAs('reconcile-part', () => findRun(yesterday))).toMatchObject({
      openParts: 0,
      endedAt: expect.any(Date),
    })
  })
  const closing = { day: '2026-01-01' as Day, balances: {} }
  await actingAs('reconcile-part', () => putClosing(closing))
})

const COUNT = 4_000

test('a journal larger than a reply is downloaded and printed by the command in both formats', async () => {
  const { id } = await createPayee(service, 'many')
  const date = dayAfter(today, -5)
  const completedAt = noon(date)
  const lines = Array.from({ length: COUNT }, (_, n) => ({ ...numberedLine(n), completedAt }))
  const sealedAt = noon(dayAfter(date))
  const header = { ...batch(), provider: providerId(id), date: dayAfter(date), sealedAt }
  const sealed = await withSums({ ...header, reportedAt: sealedAt }, lines)
  await put(keys.batch(sealed.id), 'batch', toBatchItem(sealed))
  for (let n = 0; n < COUNT; n += 50) {
    const contents = { id: chunkId(0, n), lines: lines.slice(n, n + 50), linesInLane: n + 50 }
    const { pk, sk, entity, ...chunk } = toChunkItem(sealed.id, contents)
    await put({ pk, sk }, entity, chunk)
  }
  const { download } = await service.call('ledger', 'show', { date })
  expect(new URL(download).searchParams.get('X-Amz-Expires')).toBe('900')
  const file = JSON.parse(await command('ledger', '--date', date))
  expect(file.entries).toHaveLength(COUNT)
  expect(file.trial_balance).toBe('0.00')
  expect(account(file, 'bank_receivable:GCB')).toMatchObject({ debit: `${COUNT * 100}.00` })
  const csv = await command('ledger', 'show', '--date', date, '--format=csv')
  expect(csv.trimEnd().split('\r\n')).toHaveLength(1 + 2 * COUNT)
})

/** Returns the output of `npm run operator`. */
const command = async (...words: string[]): Promise<string> => {
  const { port } = new URL(service.sandbox().address)
  const args = ['commands/operator.ts', ...words, '--port', port]
  const options = { maxBuffer: 16 * 1024 * 1024 }
  return (await promisify(execFile)(process.execPath, args, options)).stdout
}

test('a statement of an account has its entries of several days by time, between its balances', async () => {
  const options = { account: 'bank_receivable:GCB', from: today, to: today }
  const ofDay = await service.call('ledger', 'account', options)
  const { opening: before, closing: after } = account(await ledger(today), options.account)
  expect(ofDay).toMatchObject({ opening: before, closing: after })
  const statement = await service.call('ledger', 'account', { ...options, from: earlier })
  expect(statement.entries.length).toBeGreaterThan(ofDay.entries.length)
  const pesewasOf = (amount: string): number => Math.round(Number(amount) * 100)
  const [opening, debit, credit, closing] = ['opening', 'debit', 'credit', 'closing'].map((name) =>
    pesewasOf(statement[name]),
  ) as [number, number, number, number]
  expect(opening + debit - credit).toBe(closing)
  expect(statement.entries.at(-1).balance).toBe(statement.closing)
  const times = statement.entries.map(({ time }: Shown) => time)
  expect(times).toEqual(times.toSorted())
  const none = await service.call('ledger', 'account', {
    ...options,
    account: 'provider_payable:signed',
  })
  expect(none).toMatchObject({ opening: '0.00', closing: '0.00', entries: [] })
})
