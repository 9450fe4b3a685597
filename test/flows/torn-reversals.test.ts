import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, expect, test } from 'vitest'
import { findWorkAt } from '../../shared/banks/work-in-progress.ts'
import type { BankIdentifier } from '../../shared/domain/banks/bank.ts'
import { advance, type Debit } from '../../shared/domain/debits/debit.ts'
import { reversalRefund } from '../../shared/domain/debits/refund.ts'
import type { Reference } from '../../shared/domain/ids.ts'
import { dayOf } from '../../shared/domain/time.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { findRefund, refundCreation } from '../../shared/store/debits/refunds.ts'
import { keyOf, remove, table, tableName } from '../../shared/store/table.ts'
import { useHttpBank } from '../support/http-bank.ts'
import { createProvider, type Provider } from '../support/provider.ts'
import { pathOf, SILENT } from '../support/requests.ts'
import { type Shown, useService } from '../support/running-service.ts'

/** Reversals, refunds and requests of which a failover lost an item (docs/restore.md#passive-region). */

const service = useService()
const { call } = service
const bank = useHttpBank(service)

let provider: Provider

beforeAll(async () => {
  provider = await createProvider(service, 'torn', { reversals: 'request' })
})

const completed = async (): Promise<Reference> => {
  const fields = { phone_number: SILENT, bank_identifier: 'HTB', amount: '80.00' }
  const charged = await service.chargeUntil('processing', fields, provider.credential)
  const outcome = { status: 'completed', bank_reference: 'HTB-1' }
  await service.report(charged.uuid, outcome, 'bt_sandbox_htb')
  return charged.reference as Reference
}

/** Runs an act, and undoes its writes to one kind of item. */
const losing = async (entity: string, reference: Reference, act: () => Promise<unknown>) => {
  const own = async () =>
    (await service.items()).filter(
      (one) => one.pk === `DEBIT#${reference}` && one.entity === entity,
    )
  const before = await own()
  await act()
  for (const item of await own()) await remove(keyOf(item))
  for (const Item of before) await table.send(new PutCommand({ TableName: tableName(), Item }))
}

const reverse = (reference: Reference, options = {}): Promise<Shown> =>
  call('debit', 'reverse', { reference, reason: 'Goods returned', ...options })

const differencesOf = async (reference: Reference): Promise<string[]> => {
  const { invariants } = await call('reconciliation', 'run', { date: dayOf(new Date()) })
  const examples: Shown[] = invariants.flatMap((one: Shown) => one.examples)
  return examples.filter(({ subject }) => subject === reference).map((one) => one.difference)
}

test('a refund whose reversal is lost waits, and is paid after an operator reverses the debit', async () => {
  const reference = await completed()
  const cause = { at: new Date(), by: 'operator:ama', requestId: 'r' }
  const changes = { metadata: { reversal_reason: 'Lost' } }
  const debit = (await findDebit(reference)) as Debit
  const lost = reversalRefund(advance(debit, { ...cause, to: 'reversed', changes }) as Debit)
  await table.send(new PutCommand(refundCreation(lost).Put))
  await service.runJob('refund-customer', { reference })
  expect((await findRefund(reference))?.status).toBe('pending')
  const reversed = await reverse(reference)
  expect(reversed.refund).toMatchObject({ uuid: lost.uuid, reason: 'Goods returned' })
  await service.runJob('refund-customer', { reference })
  await service.untilRefund(reference, 'completed')
  expect(bank.made).toContain(lost.uuid)
  expect(await differencesOf(reference)).toEqual([])
})

test('a repeated reversal opens the refund that is lost', async () => {
  const reference = await completed()
  bank.failsWith(503)
  await losing('refund', reference, () => reverse(reference))
  bank.failsWith(undefined)
  expect(await differencesOf(reference)).toEqual(['is reversed, but has no refund'])
  const { refund } = await reverse(reference, { reason: 'Repeated' })
  expect(refund).toMatchObject({ reason: 'Goods returned' })
  await service.untilRefund(reference, 'completed')
  expect(bank.made).toContain(refund.uuid)
  const changed = { refund: { from: null, to: refund.uuid } }
  expect(await service.changeOf(reference)).toMatchObject({ verb: 'reverse', changed })
  expect(await differencesOf(reference)).toEqual([])
})

test('a repeated reversal without a refund opens none', async () => {
  const reference = await completed()
  await losing('refund', reference, () => reverse(reference, { refund: 'none' }))
  expect((await reverse(reference, { refund: 'none' })).refund).toBeNull()
  expect((await findRefund(reference))?.status).toBe('waived')
  expect(await differencesOf(reference)).toEqual([])
})

test('a reversal that is lost after its refund was sent is repeated with the refund that the bank made', async () => {
  const reference = await completed()
  await losing('debit', reference, async () => {
    await reverse(reference)
    await service.untilRefund(reference, 'completed')
  })
  const made = await findRefund(reference)
  expect((await findDebit(reference))?.status).toBe('completed')
  const { uuid, refund } = await reverse(reference)
  expect(refund).toMatchObject({ status: 'completed' })
  expect(await findRefund(reference)).toEqual(made)
  await service.runJob('refund-customer', { reference })
  const payments = bank.requests.filter(
    ({ method, body }) => method === 'POST' && body.debit_uuid === uuid,
  )
  expect(payments).toHaveLength(1)
})

const ask = (reference: Reference) =>
  service.send('POST', pathOf('request-reversal', { reference }), {
    credential: provider.credential,
    body: { reason: 'Cancelled' },
  })

const requestOf = async (reference: Reference): Promise<Shown> =>
  (await service.show(reference)).reversal_request

test('a repeated request is stored again if it is lost', async () => {
  const reference = await completed()
  await losing('exception', reference, () => ask(reference))
  expect(await requestOf(reference)).toBeNull()
  expect(await differencesOf(reference)).toEqual([
    'was requested to be reversed, but has no request',
  ])
  const again = await ask(reference)
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([202, 'true'])
  expect(await requestOf(reference)).toMatchObject({ status: 'open', reason: 'Cancelled' })
  expect(await differencesOf(reference)).toEqual([])
})

test('a debit is reversed although its request is lost', async () => {
  const reference = await completed()
  await losing('exception', reference, () => ask(reference))
  expect(await reverse(reference)).toMatchObject({ status: 'reversed', reversal_request: null })
  await service.untilRefund(reference, 'completed')
  expect(await differencesOf(reference)).toEqual([])
})

test.each([['exception', 'refund'] as const, ['debit', 'reverse'] as const])(
  'the verb `%s %s` accepts a request whose acceptance is lost',
  async (noun, verb) => {
    const reference = await completed()
    await ask(reference)
    await losing('exception', reference, () => reverse(reference))
    expect(await requestOf(reference)).toMatchObject({ status: 'open' })
    expect(await differencesOf(reference)).toEqual(['is reversed, but its request is open'])
    const { uuid } = await service.untilRefund(reference, 'completed')
    await call(noun, verb, { reference, reason: 'Repeated' })
    const accepted = { status: 'accepted', note: `refund ${uuid}` }
    expect(await requestOf(reference)).toMatchObject(accepted)
    expect(await differencesOf(reference)).toEqual([])
  },
)

test('a request whose acceptance is lost is not refunded if the debit was reversed without a refund', async () => {
  const reference = await completed()
  await ask(reference)
  await losing('exception', reference, () => reverse(reference, { refund: 'none' }))
  const refused = await service.refusal('exception', 'refund', { reference })
  expect(refused).toContain('already reversed with --refund none')
  expect((await findRefund(reference))?.status).toBe('waived')
})

/** A retry asks the bank about the refund that it rejected. */
const keepsServer = async (reference: Reference): Promise<void> => {
  const work = await findWorkAt('HTB' as BankIdentifier)
  expect(work).toBe(`the refund of ${reference} is failed`)
}

test('a failed refund is retried although its exception is lost', async () => {
  const reference = await completed()
  bank.conducts.push('reject')
  await losing('exception', reference, async () => {
    await reverse(reference)
    await service.untilRefund(reference, 'failed')
  })
  expect(await differencesOf(reference)).toEqual(['has a failed refund without an exception'])
  await keepsServer(reference)
  await call('exception', 'refund', { reference })
  await service.untilRefund(reference, 'completed')
  expect(await differencesOf(reference)).toEqual([])
})

test('a failed refund whose retry is lost is retried again, although the retry resolved its exception', async () => {
  const reference = await completed()
  bank.conducts.push('reject')
  await reverse(reference)
  await service.untilRefund(reference, 'failed')
  await losing('refund', reference, () => call('exception', 'refund', { reference }))
  const [difference] = await differencesOf(reference)
  expect(difference).toMatch(/^was resolved by the refund .*, which does not exist$/)
  await keepsServer(reference)
  await call('exception', 'refund', { reference })
  await service.untilRefund(reference, 'completed')
  expect(await differencesOf(reference)).toEqual([])
})

test('a note about a rejected refund does not change its completed retry if the exception was lost', async () => {
  const reference = await completed()
  bank.conducts.push('reject')
  await reverse(reference)
  await service.untilRefund(reference, 'failed')
  await losing('exception', reference, async () => {
    await call('exception', 'refund', { reference })
    await service.untilRefund(reference, 'completed')
  })
  const retried = await findRefund(reference)
  await call('exception', 'resolve', { reference, note: 'By hand' })
  expect(await findRefund(reference)).toEqual(retried)
  expect(await differencesOf(reference)).toEqual([])
})
