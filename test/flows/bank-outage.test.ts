import { beforeAll, expect, test } from 'vitest'
import { keys } from '../../shared/store/keys.ts'
import { readCollection } from '../../shared/store/table.ts'
import { useHttpBank } from '../support/http-bank.ts'
import { CHARGE, chargeBody, SILENT } from '../support/requests.ts'
import { codeOf, useService } from '../support/running-service.ts'

/** Outages of banks, by the clock of the sandbox (docs/architecture.md#health-of-banks). */

const service = useService()
const bank = useHttpBank(service)
const BANKS = '/api/v1/payment-providers/banks'
const clock = () => service.sandbox().control.clock
beforeAll(() => clock().freeze(true))

const advance = (seconds: number) => clock().advance(seconds * 1000)
const healthOf = async (identifier: string) =>
  (await service.get(`${BANKS}/${identifier}`)).body.data.metadata.health
const stateOf = async (identifier: string) => (await healthOf(identifier)).state
const statusOf = async (reference: string) => (await service.show(reference)).status
const waiting = async (identifier: string) =>
  (await readCollection({ pk: keys.waitingDebits(identifier) })).map(({ reference }) => reference)

const behave = (as: string) => service.call('bank', 'behave', { bank: 'ECO', as })
const charge = async (bank_identifier = 'ECO') => {
  const { reference } = await service.charge({ bank_identifier, phone_number: SILENT })
  await advance(1)
  return reference
}
const sendCharge = (fields: object) =>
  service.send('POST', CHARGE, {
    credential: 'sk_sandbox_demo',
    body: chargeBody({ bank_identifier: 'ECO', ...fields }),
  })

const breakDown = async () => {
  await behave('down')
  const first = await charge()
  await advance(149)
  return first
}

const recover = async () => {
  await behave('normal')
  await advance(61)
}

test('a bank without a reply is down within 150 seconds, and up with its first reply', async () => {
  expect(await healthOf('ECO')).toEqual({ state: 'up', since: null })
  const from = clock().now().getTime()
  const reference = await breakDown()
  const { state, since } = await healthOf('ECO')
  expect(state).toBe('down')
  expect((Date.parse(since) - from) / 1000).toBeLessThanOrEqual(150)
  expect(await service.call('bank', 'show', { bank: 'ECO' })).toMatchObject({
    ...{ health: { state, since }, when_down: 'accept' },
  })
  await advance(61)
  expect([await statusOf(reference), await stateOf('GCB')]).toEqual(['pending', 'up'])
  await recover()
  expect(await stateOf('ECO')).toBe('up')
  await advance(10)
  expect(await statusOf(reference)).toBe('processing')
  expect(await waiting('ECO')).toEqual([])
})

test('a debit that waits is submitted when the bank replies, unless it has under three minutes', async () => {
  const late = await breakDown()
  const references = []
  for (let n = 0; n < 3; n += 1) {
    references.push(await charge())
    await advance(20)
  }
  await advance(200)
  expect(await waiting('ECO')).toEqual([late, ...references])
  await recover()
  await advance(10)
  expect(await Promise.all(references.map(statusOf))).toEqual(Array(3).fill('processing'))
  expect(await statusOf(late)).toBe('pending')
  await advance(180)
  const failed = { status: 'failed', error_message: 'Bank processing timeout' }
  expect(await service.show(late)).toMatchObject({ ...failed, processed_at: null })
})

test('a submission that was set aside for a slow bank waits too when the bank is down', async () => {
  await breakDown()
  const reference = await charge()
  await service.runJob('submit-sidelined', { reference, resubmission: true })
  expect(await waiting('ECO')).toContain(reference)
  await recover()
  await advance(10)
  expect(await statusOf(reference)).toBe('processing')
})

test('a charge at a bank that is down is refused if the bank is set so, and a replay is answered', async () => {
  await service.call('bank', 'update', { bank: 'ECO', 'when-down': 'refuse' })
  await breakDown()
  const accepted = { partner_reference: 'before-the-outage', bank_identifier: 'GCB' }
  expect((await sendCharge(accepted)).status).toBe(202)
  const refused = await sendCharge({ partner_reference: 'in-the-outage' })
  expect([codeOf(refused), refused.headers.get('retry-after')]).toEqual(['503/2003', '30'])
  expect(refused.body.details).toEqual({ bank_identifier: ['does not reply'], retry_after: 30 })
  await service.call('bank', 'update', { bank: 'GCB', 'when-down': 'refuse' })
  expect((await sendCharge(accepted)).headers.get('idempotent-replayed')).toBe('true')
  await service.call('bank', 'update', { bank: 'ECO', 'when-down': 'default' })
  const waits = await sendCharge({ partner_reference: 'in-the-outage' })
  await service.call('bank', 'update', { bank: 'ECO', 'when-down': 'refuse' })
  const replayed = await sendCharge({ partner_reference: 'in-the-outage' })
  expect([waits.status, replayed.status]).toEqual([202, 202])
  expect(replayed.headers.get('idempotent-replayed')).toBe('true')
  await recover()
  expect((await sendCharge({})).status).toBe(202)
})

test('a bank of connector http is probed once a minute, and gets each debit once after an outage', async () => {
  bank.failsWith(500)
  const first = await service.charge({ bank_identifier: 'HTB' })
  await advance(150)
  expect(await stateOf('HTB')).toBe('down')
  const second = await service.charge({ bank_identifier: 'HTB' })
  await advance(1)
  const before = bank.requests.length
  await advance(180)
  const probes = bank.requests.slice(before).map(({ method, path }) => `${method} ${path}`)
  expect(probes).toEqual(
    Array(3).fill('GET /debits/submissions/00000000-0000-0000-0000-000000000000'),
  )
  bank.failsWith(undefined)
  await advance(75)
  for (const { reference, uuid } of [first, second]) {
    expect(await statusOf(reference)).toBe('processing')
    expect(bank.made.filter((one) => one === uuid)).toEqual([uuid])
  }
})
