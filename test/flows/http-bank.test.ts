import { beforeAll, describe, expect, test } from 'vitest'
import { useHttpBank } from '../support/http-bank.ts'
import { useReceiver } from '../support/receiver.ts'
import { updatePath, useService } from '../support/running-service.ts'

/** A bank with an HTTP endpoint (docs/bank-protocol.md). */

const service = useService({ timeScale: 60 })
const receiver = useReceiver()
const bank = useHttpBank()

const TOKEN = 'bt_sandbox_htb'
const BANK = { bank: 'HTB', connector: 'http' }

beforeAll(async () => {
  await service.call('bank', 'create', { ...bank.options(), 'connector-url': `${bank.url()}/` })
  await service.call('credential', 'issue', { bank: 'HTB', token: TOKEN })
  await service.call('webhook', 'set', { provider: 'demo', url: receiver.url() })
})

const charge = () => service.charge({ bank_identifier: 'HTB', amount: '120.50' })

/** Waits for a number of events of a debit and returns their bodies. */
const eventsOf = async (reference: string, count: number) =>
  (await receiver.events(reference, count)).map(({ body }) => body)

describe('a charge', () => {
  test('is submitted to the bank and completed by a report', async () => {
    const { reference, uuid } = await charge()
    const events = await eventsOf(reference, 3)
    expect(events.at(-1)).toMatchObject({
      event: 'transaction.processing',
      data: { transaction: { bank_reference: `HTB-${uuid.slice(0, 8)}` } },
    })
    expect(bank.requestsFor(uuid)).toMatchObject([
      {
        method: 'POST',
        body: { uuid, reference, phone_number: '+233241234567', amount: '120.50', currency: 'GHS' },
      },
    ])
    const report = await service.send('POST', updatePath(uuid), {
      credential: TOKEN,
      body: { status: 'completed', bank_reference: 'HTB-DONE', approval_method: 'ussd' },
    })
    expect(report.status).toBe(200)
    expect((await eventsOf(reference, 4)).at(-1)).toMatchObject({
      event: 'transaction.completed',
      data: { transaction: { bank_reference: 'HTB-DONE', amount: 120.5 } },
    })
  })

  test('whose reply is lost is queried and leads to one debit at the bank', async () => {
    bank.conducts.push('accept, then break off')
    const { reference, uuid } = await charge()
    expect((await eventsOf(reference, 3)).at(-1)).toMatchObject({
      event: 'transaction.processing',
      data: { transaction: { bank_reference: `HTB-${uuid.slice(0, 8)}` } },
    })
    expect(bank.debits.filter((debit) => debit === uuid)).toHaveLength(1)
    expect(bank.requestsFor(uuid).map(({ method }) => method)).toEqual(['POST', 'GET'])
  })

  test('that the bank rejects fails with the code and message of the bank', async () => {
    bank.conducts.push('reject')
    const { reference } = await charge()
    expect((await eventsOf(reference, 3)).at(-1)).toMatchObject({
      event: 'transaction.failed',
      data: {
        previous_status: 'pending',
        error_details: { code: 'invalid_account', message: 'No such account' },
      },
    })
  })

  test('that the bank never accepts fails with a timeout and leads to no debit at the bank', async () => {
    const broken = { status: 500, body: 'Core banking is down' }
    bank.conducts.push(broken, broken, broken, broken)
    const { reference, uuid } = await charge()
    expect((await eventsOf(reference, 3)).at(-1)).toMatchObject({
      event: 'transaction.failed',
      data: {
        transaction: { error_message: 'Bank processing timeout' },
        error_details: { code: 'timeout' },
      },
    })
    expect(bank.debits).not.toContain(uuid)
    bank.conducts.length = 0
  })
})

describe('the query before a timeout', () => {
  /** Returns the last event of a debit without a report, and the number of queries for it. */
  const unreported = async (outcome?: object, count = 4) => {
    const { reference, uuid } = await charge()
    await eventsOf(reference, 3)
    if (outcome) bank.outcomes.set(uuid, outcome)
    const event = (await eventsOf(reference, count)).at(-1)
    const queries = bank.requestsFor(uuid).filter(({ method }) => method === 'GET').length
    return { event, queries, shown: await service.call('debit', 'show', { reference }) }
  }

  const completed = { status: 'completed', bank_reference: 'HTB-9', fee: '1.25' }
  const failed = { status: 'failed', code: 'insufficient_funds', message: 'Too little money' }
  const timedOut = {
    event: 'transaction.failed',
    data: { error_details: { code: 'timeout', message: 'Transaction timeout' } },
  }

  test.concurrent.each([
    [
      'completed wins',
      completed,
      {
        event: 'transaction.completed',
        data: { transaction: { bank_reference: 'HTB-9', fee: 1.25, error_message: null } },
      },
      'bank:HTB',
    ],
    [
      'failed wins with its code',
      failed,
      {
        event: 'transaction.failed',
        data: { error_details: { code: 'insufficient_funds', message: 'Too little money' } },
      },
      'bank:HTB',
    ],
    ['accepted lets the timeout proceed', undefined, timedOut, 'job:expire-debit'],
    [
      'a reply about another amount lets it proceed',
      { ...completed, amount: '1.00' },
      timedOut,
      'job:expire-debit',
    ],
    [
      'a reply about another debit lets it proceed',
      { ...completed, uuid: '85cb9470-fd1a-4344-b945-18a86d2efeac' },
      timedOut,
      'job:expire-debit',
    ],
  ])('is sent once: %s', async (_name, outcome, event, by) => {
    const { event: last, queries, shown } = await unreported(outcome)
    expect(last).toMatchObject(event)
    expect(queries).toBe(1)
    expect(shown.history.at(-1)).toMatchObject({ by })
  })
})

describe('bank create and bank update', () => {
  test('generate and print a missing secret once', async () => {
    const created = await service.call('bank', 'create', {
      ...BANK,
      bank: 'HTC',
      name: 'Other Test Bank',
      'connector-url': 'https://bank.test/debits/',
    })
    expect(created).toMatchObject({
      connector: 'http',
      connector_url: 'https://bank.test/debits',
      connector_secret: expect.stringMatching(/^cs_[\w-]{43}$/),
    })
    const updated = await service.call('bank', 'update', { bank: 'HTC', maximum: '500.00' })
    expect(updated).toMatchObject({ maximum: '500.00', connector_url: 'https://bank.test/debits' })
    expect(updated).not.toHaveProperty('connector_secret')
  })

  test('do not print a secret that was passed', async () => {
    const options = { bank: 'HTB', 'connector-secret': bank.secret }
    const reply = await service.call('bank', 'update', options)
    expect(JSON.stringify(reply)).not.toContain(bank.secret)
    const error = await service.refusal('bank', 'update', { ...options, bank: 'GCB' })
    expect(error).toBe('--connector-secret: applies to connector http only')
  })

  test.each([
    [{ connector: 'http' }, '--connector-url: is required for connector http'],
    [{ connector: 'http', 'connector-url': 'http://bank.test' }, '--connector-url: must use https'],
    [{ connector: 'none', 'connector-url': 'https://bank.test' }, '--connector-url: applies to'],
    [{ connector: 'http', 'connector-secret': 'short' }, '--connector-secret: must be 16 to 200'],
    [{ connector: 'smtp' }, '--connector: must be one of sandbox, http, none'],
  ])('reject %o in one line and change nothing', async (options, line) => {
    const update = { bank: 'SBG', ...(options as Record<string, string>) }
    expect(await service.refusal('bank', 'update', update)).toContain(line)
    const bank = await service.call('bank', 'update', { bank: 'SBG' })
    expect(bank).toMatchObject({ connector: 'sandbox' })
  })
})
