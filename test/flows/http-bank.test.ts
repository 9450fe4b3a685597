import { beforeAll, describe, expect, test } from 'vitest'
import { useHttpBank } from '../support/http-bank.ts'
import { useReceiver } from '../support/receiver.ts'
import { CHARGE, chargeBody, updatePath, useService } from '../support/running-service.ts'

/** A bank with an endpoint of its own, from the operator's first word to its last report. */

const service = useService({ timeScale: 60 })
const receiver = useReceiver()
const bank = useHttpBank()

const TOKEN = 'bt_sandbox_htb'
const BANK = { bank: 'HTB', connector: 'http' }

beforeAll(async () => {
  const settings = { 'connector-url': `${bank.url()}/`, 'connector-secret': bank.secret }
  await service.operate('bank', 'create', { ...BANK, name: 'Test Bank', ...settings })
  await service.operate('credential', 'issue', { bank: 'HTB', token: TOKEN })
  await service.operate('webhook', 'set', { provider: 'demo', url: receiver.url() })
})

/** A new charge's reference and uuid. */
const charged = async (): Promise<{ reference: string; uuid: string }> => {
  const body = chargeBody({ bank_identifier: 'HTB', amount: '120.50' })
  const reply = await service.send('POST', CHARGE, { credential: 'sk_sandbox_demo', body })
  expect(reply.status).toBe(202)
  return { reference: reply.body.data.reference, uuid: reply.body.data.response.uuid }
}

/** What the provider was told of a debit, in so many events. */
const told = async (reference: string, count: number) =>
  (await receiver.events(reference, count)).map(({ body }) => body)

const requestsFor = (uuid: string) =>
  bank.requests.filter(({ path, raw }) => `${path}${raw}`.includes(uuid))

describe('a charge to it', () => {
  test('is handed over, and completed by its own report', async () => {
    const { reference, uuid } = await charged()
    const events = await told(reference, 3)
    expect(events.at(-1)).toMatchObject({
      event: 'transaction.processing',
      data: { transaction: { bank_reference: `HTB-${uuid.slice(0, 8)}` } },
    })
    expect(requestsFor(uuid)).toMatchObject([
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
    expect((await told(reference, 4)).at(-1)).toMatchObject({
      event: 'transaction.completed',
      data: { transaction: { bank_reference: 'HTB-DONE', amount: 120.5 } },
    })
  })

  test('whose answer is lost is asked for again: processing, and one debit at the bank', async () => {
    bank.conducts.push('accept, then break off')
    const { reference, uuid } = await charged()
    expect((await told(reference, 3)).at(-1)).toMatchObject({
      event: 'transaction.processing',
      data: { transaction: { bank_reference: `HTB-${uuid.slice(0, 8)}` } },
    })
    expect(bank.debits.filter((debit) => debit === uuid)).toHaveLength(1)
    expect(requestsFor(uuid).map(({ method }) => method)).toEqual(['POST', 'GET'])
  })

  test('that it rejects is failed with its code and words', async () => {
    bank.conducts.push('reject')
    const { reference } = await charged()
    expect((await told(reference, 3)).at(-1)).toMatchObject({
      event: 'transaction.failed',
      data: {
        previous_status: 'pending',
        error_details: { code: 'invalid_account', message: 'No such account' },
      },
    })
  })

  test('that it never understands is failed by the clock, with no debit at the bank', async () => {
    const broken = { status: 500, body: 'Core banking is down' }
    bank.conducts.push(broken, broken, broken, broken)
    const { reference, uuid } = await charged()
    expect((await told(reference, 3)).at(-1)).toMatchObject({
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

describe('before a timeout fails a debit, the bank is asked once for its outcome', () => {
  /** The last event of a debit that the bank accepts and never reports, and the questions about it. */
  const unreported = async (outcome?: object, count = 4) => {
    const { reference, uuid } = await charged()
    await told(reference, 3)
    if (outcome) bank.outcomes.set(uuid, outcome)
    const event = (await told(reference, count)).at(-1)
    const questions = requestsFor(uuid).filter(({ method }) => method === 'GET')
    return { event, questions: questions.length, shown: await shownTo(reference) }
  }
  const shownTo = async (reference: string) =>
    (await service.operate('debit', 'show', { reference })) as { result: { history: object[] } }

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
  ])('%s', async (_name, outcome, event, by) => {
    const { event: last, questions, shown } = await unreported(outcome)
    expect(last).toMatchObject(event)
    expect(questions).toBe(1)
    expect(shown.result.history.at(-1)).toMatchObject({ by })
  })
})

describe('bank create and bank update', () => {
  const operated = async (verb: string, options: Record<string, string>) =>
    (await service.operate('bank', verb, options)) as {
      result: Record<string, unknown>
      error: string
    }

  test('a secret that was not given is made and printed, once', async () => {
    const made = await operated('create', {
      ...BANK,
      bank: 'HTC',
      name: 'Other Test Bank',
      'connector-url': 'https://bank.test/debits/',
    })
    expect(made.result).toMatchObject({
      connector: 'http',
      connector_url: 'https://bank.test/debits',
      connector_secret: expect.stringMatching(/^cs_[\w-]{43}$/),
    })
    const { result } = await operated('update', { bank: 'HTC', maximum: '500.00' })
    expect(result).toMatchObject({ maximum: '500.00', connector_url: 'https://bank.test/debits' })
    expect(result).not.toHaveProperty('connector_secret')
  })

  test('a secret that was given is not told again', async () => {
    const given = 'cs_given_by_the_bank'
    const reply = await operated('update', { bank: 'HTB', 'connector-secret': bank.secret })
    expect(JSON.stringify(reply)).not.toContain(bank.secret)
    const { error } = await operated('update', { bank: 'GCB', 'connector-secret': given })
    expect(error).toBe('--connector-secret: applies to connector http only')
  })

  test.each([
    [{ connector: 'http' }, '--connector-url: is required for connector http'],
    [{ connector: 'http', 'connector-url': 'http://bank.test' }, '--connector-url: must use https'],
    [{ connector: 'none', 'connector-url': 'https://bank.test' }, '--connector-url: applies to'],
    [{ connector: 'http', 'connector-secret': 'short' }, '--connector-secret: must be 16 to 200'],
    [{ connector: 'smtp' }, '--connector: must be one of sandbox, http, none'],
  ])('%o is refused in one line, and changes nothing', async (options, line) => {
    const { error } = await operated('update', { bank: 'SBG', ...options } as Record<
      string,
      string
    >)
    expect(error).toContain(line)
    const { result } = await operated('update', { bank: 'SBG' })
    expect(result).toMatchObject({ connector: 'sandbox' })
  })
})
