import { readFileSync } from 'node:fs'
import { beforeAll, expect } from 'vitest'
import { dayAfter } from '../../shared/domain/time.ts'
import { nouns } from '../../shared/operator/catalogue.ts'
import { createPayee, type Payee } from '../support/payee.ts'
import { untilPayoutWaits } from '../support/payouts.ts'
import { untilRefundWaits } from '../support/refunds.ts'
import { FAILS_AT_ONCE } from '../support/requests.ts'
import { type Shown, useService } from '../support/running-service.ts'
import { commandsOf, operatorWords } from './page.ts'
import { entriesOf, nightAfter, play, today, useRunbooks } from './runbook.ts'

/** Runbooks about settlement, reconciliation, statements of banks and the ledger. */

const service = useService()
const runbook = useRunbooks(service)

let acme: Payee
beforeAll(async () => {
  acme = await createPayee(service, 'acme')
})

const behave = (as: string) => service.call('bank', 'behave', { bank: 'GCB', as })

/** Builds a batch of one debit of a new provider. */
const batchOf = async (id: string, amount = '100.00'): Promise<Shown> => {
  const payee = await createPayee(service, id)
  await payee.complete(amount)
  return (await payee.run(nightAfter(service, 0))).built[0]
}

const failedBatchOf = async (id: string): Promise<Shown> => {
  const { id: batch } = await batchOf(id)
  await behave('rejecting')
  const failed = await service.call('settlement', 'process', { batch })
  await behave('normal')
  return failed
}

runbook('operations.md#when-an-alarm-rings')(
  'the first looks at an alarm read, and change nothing',
  async ({ run, values }) => {
    Object.assign(values, { P: 'demo', B: 'GCB', Y: '2026', D: today(service) })
    const calls = commandsOf('operations.md#when-an-alarm-rings').flatMap((command) => {
      const words = operatorWords(command)
      return words ? [words] : []
    })
    for (const [noun = '', verb = ''] of calls) {
      expect(nouns[noun]?.verbs[verb]?.effect).toBe('reads')
      await run(`${noun} ${verb}`, expect.anything())
    }
  },
)

runbook('operators.md#declare-holidays')(
  'the holidays of a year are those of a file, then one is declared and withdrawn',
  async ({ run, values }) => {
    const file = 'docs/fixtures/holidays-2026.csv'
    values[file] = readFileSync(file, 'utf8')
    await run('bank update', { payout_days: 'working' })
    const { days } = await run('calendar set', { year: '2026' })
    await run('calendar add', { days: expect.arrayContaining(days) })
    await run('calendar remove', { days })
    await run('calendar show', { year: '2026', days })
    await service.call('bank', 'update', { bank: 'GCB', 'payout-days': 'default' })
  },
)

runbook('operations.md#settlement')(
  'an unfinished settlement is run again, a held batch says why, and a failed payout is retried once',
  async ({ run, values }) => {
    await acme.complete('100.00')
    const failed = await failedBatchOf('rejected')
    values.TODAY = nightAfter(service, 0)
    const { built } = await run('settlement run', { built: [{ provider: 'acme', net: '98.50' }] })
    await service.call('provider', 'disable', { provider: 'acme' })
    values.ID = built[0].id
    await run('settlement process', { error: expect.stringContaining('held') })
    values.ID = failed.id
    await run('settlement show', { status: 'failed', failure: expect.any(String) })
    const paid = await run('settlement retry', { status: 'completed', paid: '98.50' })
    expect(paid.uuid).not.toBe(failed.uuid)
    expect(await entriesOf(service, failed.id)).toEqual(['fees', 'payout'])
    expect(await entriesOf(service, built[0].id)).toEqual(['fees'])
    await service.call('provider', 'enable', { provider: 'acme' })
  },
)

runbook('operations.md#reconciliation-differs')(
  'the differences of a day name batches, which the commands of their rows hold, pay or explain',
  async ({ run, values }) => {
    const wrong = await batchOf('wrong-lines')
    const failed = await failedBatchOf('unpaid')
    const underway = await batchOf('underway')
    await behave('silent')
    await service.call('settlement', 'process', { batch: underway.id })
    await behave('normal')
    values.D = today(service)
    await run('reconciliation run', { date: values.D, invariants: expect.any(Array) })
    values['--provider'] = 'wrong-lines'
    await run('provider update', { settlement_account: null })
    delete values['--provider']
    values.ID = underway.id
    await run('settlement process', { status: 'completed', paid: '98.50' })
    values.ID = failed.id
    await run('settlement retry', { status: 'completed', paid: '98.50' })
    values.ID = wrong.id
    await run('settlement process', { error: expect.stringContaining('settlement account') })
    for (const { id } of [underway, failed]) {
      expect(await entriesOf(service, id)).toEqual(['fees', 'payout'])
    }
    expect(await entriesOf(service, wrong.id)).toEqual(['fees'])
  },
)

runbook('operators.md#a-provider-owes-money')(
  'the transfer of a provider completes its batch below zero',
  async ({ run, values }) => {
    const payee = await createPayee(service, 'owing')
    const [reference = ''] = await payee.complete('100.00')
    await payee.run(nightAfter(service, 0))
    await payee.reverse(reference)
    const { id } = (await payee.run(nightAfter(service, 1))).built[0]
    values.acme = 'owing'
    await run('settlement list', [{ id, status: 'pending', net: '-98.50' }])
    values['STL-20261122-ABC456'] = id
    await run('settlement complete', { status: 'completed', paid: '-98.50' })
    expect(await entriesOf(service, id)).toContain('provider_payment')
  },
)

runbook('operators.md#a-bank-gives-no-final-reply')(
  'a refund and a payout that their bank never makes fail, as their operators record it',
  async ({ run, values }) => {
    const [reference = ''] = await acme.complete('12.00')
    const { id: batch } = await batchOf('unanswered')
    await behave('silent')
    await service.call('settlement', 'process', { batch })
    await acme.reverse(reference)
    await untilRefundWaits(reference)
    values['DCS-20261121-ABC123'] = reference
    const { refund } = await run('debit fail-refund', { refund: { status: 'failed' } })
    values['STL-20261122-ABC789'] = batch
    await untilPayoutWaits(batch)
    await run('settlement fail', { status: 'failed', paid: '98.50' })
    await behave('normal')
    expect(await entriesOf(service, batch)).toEqual(['fees'])
    const open = await service.exceptions(reference)
    expect(open).toMatchObject([{ kind: 'refund', report: refund.error_message }])
    await service.call('exception', 'resolve', { reference, note: 'Repaid in cash' })
  },
)

const HEADER = 'uuid,bank_reference,amount,currency,completed_at'
const statementOf = (debits: readonly Shown[]): string =>
  [
    HEADER,
    ...debits.map(({ uuid = '', name = '', amount, at }) => `${uuid},${name},${amount},GHS,${at}`),
  ].join('\n')

const [LATE, RETURN] = ['GCB-0011', 'GCB-0012']

/** Returns a late completion that its bank returned, and a refund of money that it never debited, with their notes. */
const notedCases = async () => {
  const returned = await service.show((await play(service, 'late-completion')).reference)
  await service.report(returned.uuid, { status: 'completed', bank_reference: LATE })
  const unmoved = await service.show((await play(service, 'refund-rejected')).reference)
  const denial = { status: 'failed', bank_reference: 'GCB-0010', error_message: 'Not debited' }
  await service.report(unmoved.uuid, denial)
  for (const [{ reference }, kind] of [
    [returned, 'late_completion'],
    [unmoved, 'contradiction'],
    [unmoved, 'refund'],
  ])
    await service.call('exception', 'resolve', { reference, kind, note: 'By telephone' })
  return { returned, unmoved }
}

runbook('operations.md#a-banks-statement')(
  'a statement shows a debit that failed here, which is refunded, one that the bank never made, and noted ones',
  async ({ run, values }) => {
    const [reference = ''] = await acme.complete('40.00')
    const { uuid } = await service.show(reference)
    const [unmade = ''] = await acme.complete('7.00')
    const failed = await service.chargeUntil('failed', { phone_number: FAILS_AT_ONCE })
    const { returned, unmoved } = await notedCases()
    const at = new Date(service.sandbox().control.clock.now()).toISOString()
    const rows = [
      { uuid, amount: '40.00', at },
      { uuid: failed.uuid, amount: '100.00', at },
      { uuid: returned.uuid, amount: '25.00', at },
      { uuid: returned.uuid, amount: '-25.00', at },
      { name: LATE, amount: '25.00', at },
      { name: RETURN, amount: '-25.00', at },
    ]
    Object.assign(values, { B: 'GCB', D: today(service), 'FILE.csv': statementOf(rows) })
    await run('reconciliation statement', {
      matched: { examples: expect.arrayContaining([expect.objectContaining({ reference })]) },
      missing_here: { examples: [LATE, RETURN].map((bank_reference) => ({ bank_reference })) },
      missing_at_bank: {
        examples: expect.arrayContaining(
          [unmade, unmoved.reference].map((reference) => expect.objectContaining({ reference })),
        ),
      },
      differs: {
        sum: '150.00',
        examples: [failed, returned, returned].map(({ reference }) => ({ reference })),
      },
    })
    const reversal = { '--reference': unmade, '--reason': 'GCB debited nothing' }
    await run('debit reverse', { status: 'reversed', refund: null }, reversal)
    await service.report(failed.uuid, { status: 'completed', bank_reference: 'GCB-0009' })
    const { refund } = await service.call('exception', 'refund', { reference: failed.reference })
    expect(refund).toMatchObject({ amount: '100.00' })
  },
)

runbook('operations.md#ledger-and-funding')(
  'a corrected remittance moves from the receivable of its bank to cash, once',
  async ({ run, values }) => {
    const [reference = ''] = await acme.complete('60.00')
    values['2026-11-21'] = today(service)
    const before = await run('ledger show', { trial_balance: '0.00' })
    const csv = await run('ledger show', expect.stringContaining(reference))
    expect(csv).toContain('bank_receivable:GCB')
    const statement = await run('ledger account', { account: 'bank_receivable:GCB' })
    expect(statement.entries.map(({ source }: Shown) => source.id)).toContain(reference)
    const record = { amount: '125000.00', reference: 'RTGS-4711' }
    await run('funding record', record)
    const remittance = { bank: 'GCB', date: today(service), ...record }
    await service.call('funding', 'record', remittance)
    await run('funding correct', { amount: '12500.00' })
    await run('funding list', [{ reference: 'RTGS-4711', amount: '12500.00' }])
    const after = await service.call('ledger', 'show', { date: today(service) })
    const closing = ({ accounts }: Shown, name: string) =>
      Number(accounts.find(({ account }: Shown) => account === name)?.closing ?? 0)
    const change = (name: string) => Math.round(closing(after, name) - closing(before, name))
    expect(['cash', 'bank_receivable:GCB'].map(change)).toEqual([12_500, -12_500])
    expect(await entriesOf(service, 'RTGS-4711')).toEqual(['funding', 'funding_correction'])
  },
)

runbook('operators.md#each-day')(
  'the lists of a day show the exception, the batch and the remittance of that day',
  async ({ run, values }) => {
    const { reference } = await play(service, 'late-completion')
    const [completed = ''] = await acme.complete('15.00')
    const { uuid } = await service.show(completed)
    const at = new Date(service.sandbox().control.clock.now()).toISOString()
    values['2026-11-20'] = dayAfter(today(service), -1)
    values['2026-11-21'] = today(service)
    values['2026-11-22'] = dayAfter(today(service), -1)
    values['gcb.csv'] = statementOf([{ uuid, amount: '15.00', at }])
    values['RTGS-4711'] = 'RTGS-4712'
    const open = await run('exception list', expect.any(Array))
    expect(open.map((one: Shown) => one.reference)).toContain(reference)
    await run('approval list', [])
    await run('delivery list', [])
    const batches = await run('settlement list', expect.any(Array))
    expect(batches.length).toBeGreaterThan(0)
    await run('reconciliation run', { differences: 0 })
    await run('reconciliation statement', { missing_here: { count: 0 }, differs: { count: 0 } })
    await run('funding record', { date: values['2026-11-22'], amount: '125000.00' })
    const [change] = await run('change list', expect.any(Array))
    expect(change).toMatchObject({ noun: 'funding', verb: 'record', by: 'local:engineer' })
    const days = await run('change verify', expect.any(Array))
    expect(days.map(({ day }: Shown) => day)).toEqual([values['2026-11-20'], today(service)])
    await run('bank update', { statement_columns: { amount: 'Credit Amt' } })
    await service.call('bank', 'update', { bank: 'GCB', 'statement-columns': 'default' })
    await service.call('exception', 'resolve', { reference, note: 'GCB returned it' })
  },
)

runbook('operators.md#close-a-day')(
  'a day is closed with the statement of its bank, and names the exception that remains',
  async ({ run, values }) => {
    const { reference } = await play(service, 'late-completion')
    values['2026-11-21'] = today(service)
    values['gcb.csv'] = statementOf([
      { uuid: crypto.randomUUID(), amount: '1.00', at: today(service) },
    ])
    await run('reconciliation statement', { missing_here: { count: 1 } })
    const closed = await run('day close', { result: 'open' })
    const open = closed.open.map(({ check, subject }: Shown) => `${check} ${subject}`)
    expect(open).toContain(`exception ${reference}`)
    expect(open).toContain('statement GCB')
    await run('day close', expect.stringContaining(reference))
    await service.call('exception', 'resolve', { reference, note: 'GCB returned it' })
  },
)
