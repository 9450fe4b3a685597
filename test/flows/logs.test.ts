import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { useHttpBank } from '../support/http-bank.ts'
import { nightAfter } from '../support/payee.ts'
import { useReceiver } from '../support/receiver.ts'
import {
  CHARGE,
  chargeBody,
  type Reply,
  statusPath,
  useService,
} from '../support/running-service.ts'

/**
 * Log lines of the functions: one JSON object each, without personal data or secrets. Each field that
 * a caller, a bank, a receiver or the operator can send contains a canary, and no line may contain it.
 */

// The default level of the logger, as in production.
process.env.POWERTOOLS_LOG_LEVEL = 'INFO'
const service = useService({ timeScale: 60 })
const receiver = useReceiver()
const bank = useHttpBank()

const written: string[] = []
const spies = [process.stdout, process.stderr].map((stream) =>
  vi.spyOn(stream, 'write').mockImplementation((part) => written.push(String(part)) > 0),
)
afterAll(() => {
  for (const spy of spies) spy.mockRestore()
})

const canaries: string[] = []

/** Returns unique text for a field. */
const canary = (field: string): string => {
  const text = `Canary${field.replaceAll(/[^a-z]/gi, '')}Zq`
  canaries.push(text)
  return text
}
const digits = (number: string): string => canaries[canaries.push(number) - 1] ?? ''

const PHONE = digits('+233247777777')
const TOKEN = 'sk_sandbox_canary_token'
const BANK_TOKEN = 'bt_sandbox_canary_token'
canaries.push(TOKEN, BANK_TOKEN, '233247777777', bank.secret)

const charge = (fields: object = {}, headers: Record<string, string> = {}): Promise<Reply> => {
  const metadata = { [canary('key')]: canary('value'), [canary('nested')]: { a: 1 } }
  const narration = `${canary('narration')}\r\n{"level":"ERROR"}`
  const text = { narration, partner_reference: canary('partner reference'), metadata }
  const body = chargeBody({ phone_number: PHONE, bank_identifier: 'CNB', ...text, ...fields })
  return service.send('POST', CHARGE, { credential: TOKEN, headers, body })
}

/** Creates a debit at the canary's bank and waits for a number of its events. */
const debit = async (partner_reference: string, events: number, fields: object = {}) => {
  const { body } = await charge({ partner_reference, ...fields })
  await receiver.events(body.data.reference, events)
  return { reference: String(body.data.reference), uuid: String(body.data.response.uuid) }
}

const report = (uuid: string, body: object | string) => service.report(uuid, body, BANK_TOKEN)

const sendAsOperator = async () => {
  const atBank = { ...bank.options(), bank: 'CNB', name: canary('bank name') }
  await service.call('bank', 'create', atBank)
  const number = digits('8887776665554')
  const account = { 'settlement-account': number, 'settlement-name': canary('settlement name') }
  const named = { provider: 'canary', name: canary('provider name') }
  await service.call('provider', 'create', { ...named, 'settlement-bank': 'CNB', ...account })
  const signed = { provider: 'canary-signed', name: 'Signed' }
  const requestSecret = { 'request-secret': canary('request secret') }
  await service.call('provider', 'create', { ...signed, ...requestSecret })
  await service.call('credential', 'issue', { provider: 'canary', token: TOKEN })
  await service.call('credential', 'issue', { bank: 'CNB', token: BANK_TOKEN })
  canaries.push((await service.call('credential', 'issue', { provider: 'canary' })).token)
  const holder = { name: canary('customer name'), 'account-number': digits('9990001112223') }
  await service.call('customer', 'link', { phone: PHONE, bank: 'CNB', ...holder })
  const url = receiver.url(`/${canary('webhook path')}?token=${canary('webhook query')}`)
  canaries.push((await service.call('webhook', 'set', { provider: 'canary', url })).secret)
  // Rejected values must not be logged either.
  const user = `http://${canary('user info')}:${canary('password')}@127.0.0.1:1/`
  const provider = 'canary'
  const wrong: [string, string, Record<string, string>][] = [
    ['webhook', 'set', { provider, url: user }],
    ['webhook', 'set', { provider, url: `https://${canary('host')}.test/` }],
    ['webhook', canary('verb'), {}],
    ['customer', 'link', { [canary('option')]: canary('option value') }],
    ['customer', 'show', { phone: `+${digits('233246666666')}`, bank: 'CNB' }],
    ['credential', 'revoke', { token: canary('revoked token') }],
    ['provider', 'update', { provider: canary('provider id') }],
    ['limit', 'set', { provider, 'daily-limit': canary('limit') }],
    ['debit', 'reverse', { reference: canary('reference'), reason: canary('reason') }],
  ]
  for (const words of wrong) expect(await service.refusal(...words)).toBeDefined()
}

const sendAsCaller = async () => {
  const named = ['User-Agent', 'X-Request-ID', 'X-Forwarded-For', 'X-Signature', 'X-Timestamp']
  const headers = Object.fromEntries(
    [...named, 'Cookie', canary('header name')].map((name) => [name, canary(`${name} value`)]),
  )
  await charge({ bank_identifier: canary('bank identifier') }, headers)
  await charge({ phone_number: `0${digits('244123123123')}` }, headers)
  await charge({ amount: canary('amount'), currency: canary('currency') })
  const unknown = { [canary('unknown field')]: canary('unknown value') }
  await charge({ ...unknown, metadata: canary('no object') })
  const send = (body: unknown, more = {}) =>
    service.send('POST', CHARGE, { credential: TOKEN, body, ...more })
  await send(`{"phone_number": "${canary('broken json')}`)
  await send(`{"narration": ${canary('bare word')}}`)
  await send(canary('text'))
  await send(`{"a": "${canary('doubled')}", "a": 1}`)
  await send(Buffer.from(`{"a":"${canary('not utf8')}\xff"}`, 'latin1'))
  await send('{}', { headers: { 'Content-Type': `text/${canary('content type')}` } })
  await send('{', { credential: canary('bad token') })
  const PROVIDERS = '/api/v1/payment-providers'
  const paths = [
    `/${canary('unknown path')}`,
    `${PROVIDERS}/debit-requests/${canary('path reference')}`,
    `${PROVIDERS}/debit-requests?status=${canary('status')}&${canary('query name')}=1`,
    `${PROVIDERS}/debit-requests?status=failed&cursor=${canary('cursor')}`,
    `${PROVIDERS}/events?after=${canary('after')}`,
    `${PROVIDERS}/banks/${canary('bank in path')}`,
    `${PROVIDERS}/banks/lookup/${encodeURIComponent(PHONE)}`,
    `${PROVIDERS}/banks/lookup/${canary('phone in path')}`,
    `${PROVIDERS}/settlements/${canary('batch')}`,
  ]
  for (const path of paths) await service.get(path, TOKEN)
  const list = `/api/v1/banks/debit-transactions?phone_number=${encodeURIComponent(PHONE)}`
  await service.get(list, BANK_TOKEN)
}

const saying = (status: number, body: string | object, headers = {}) =>
  bank.conducts.push({
    ...{ status, body: typeof body === 'string' ? body : JSON.stringify(body), headers },
  })

const sendAsBank = async () => {
  const one = await debit('update', 3)
  await report(one.uuid, `{"status": "${canary('broken update')}`)
  const method = { approval_method: canary('approval method') }
  await report(one.uuid, { status: canary('update status'), fee: canary('fee'), ...method })
  await report(canary('uuid'), { status: 'completed', bank_reference: 'x' })
  await report(one.uuid, {
    ...{ status: 'failed', bank_reference: canary('bank reference') },
    error_message: canary('error message'),
    metadata: { [canary('bank metadata key')]: canary('bank metadata value') },
  })
  // The line of a rejected report contains the debit and no text of the bank.
  await report(one.uuid, { status: 'completed', bank_reference: canary('late bank reference') })
  const note = canary('note')
  await service.call('exception', 'resolve', { reference: one.reference, note })
  const words = { status: 'rejected', code: canary('code'), message: canary('words') }
  saying(422, words)
  await debit('rejected', 3)
  const odd = { [canary('bank header')]: canary('bank header value') }
  saying(200, canary('bank body'), odd)
  await debit('garbage', 2)
  saying(500, canary('bank fault'))
  await debit('fault', 2)
}

const respondAsReceiver = async () => {
  const header = { 'X-Canary': canary('receiver header') }
  const location = `http://${canary('location')}.test/`
  receiver.answers.push(
    (response) =>
      response.writeHead(400, canary('reason phrase'), header).end(canary('receiver body')),
    (response) => response.writeHead(200).end(`{"phone":"${PHONE}"}${canary('thanks')}`),
    (response) => response.writeHead(302, { location }).end(),
    (response) => response.socket?.end(`HTTP/1.1 ${canary('status line')}\r\n\r\n`),
  )
  const one = await debit('receiver', 3)
  await report(one.uuid, { status: 'completed', bank_reference: 'R-1' })
  await receiver.events(one.reference, 4)
  for (const { headers } of receiver.received) canaries.push(String(headers['x-svc-signature']))
  return one
}

const runSettlement = async ({ reference }: { reference: string }) => {
  const words = { status: 'rejected', message: canary('payment words') }
  saying(422, words)
  for (const date of [nightAfter(0), nightAfter(1)]) {
    await service.call('settlement', 'run', { date, provider: 'canary' })
  }
  expect(bank.requests.some(({ path }) => path.endsWith('/settlements'))).toBe(true)
  await service.call('debit', 'reverse', { reference, reason: canary('reversal reason') })
}

/** Returns an error with additional members, as the SDK and Node throw them. */
const errorWith = (name: string, message: string, members: object) =>
  Object.assign(new Error(message), { name, ...members })

const causeFaults = async () => {
  await service.runJob('submit-to-bank', `{"reference":"${canary('poison')}"}`)
  const NewImage = { entity: { S: 'debit' }, x: { S: canary('record') } }
  await service.invoke('relay', { Records: [{ dynamodb: { SequenceNumber: '1', NewImage } }] })
  // Imported late: they read their environment when they are loaded.
  const { log } = await import('../../shared/log.ts')
  const { table } = await import('../../shared/store/table.ts')
  const send = table.send.bind(table) as (command: unknown) => Promise<unknown>
  const broken = vi.spyOn(table, 'send')
  const Item = { phone: { S: PHONE }, narration: { S: canary('item') } }
  const CancellationReasons = [{ Code: 'ConditionalCheckFailed', Item }]
  const [received, issues] = [`received "${canary('vali')}"`, [{ input: Item }]]
  const cause = new SyntaxError(`"${canary('cause')}" is not JSON`)
  const invalid = { code: 'ERR_INVALID_URL', input: canary('input') }
  const errors = [
    errorWith('TransactionCanceledException', 'Transaction cancelled', { CancellationReasons }),
    errorWith('ValiError', `Invalid type: ${received}`, { issues }),
    new Error(`No account ${PHONE}`, { cause }),
    errorWith('TypeError', 'Invalid URL', invalid),
  ]
  for (const error of errors) {
    broken.mockImplementation((async (command: { input: object }) => {
      if (JSON.stringify(command.input).includes('DEBIT#DCS-20261121-ABC123')) throw error
      return send(command)
    }) as never)
    const reference = 'DCS-20261121-ABC123'
    const { status } = await service.get(statusPath(reference), TOKEN)
    expect(status).toBeGreaterThanOrEqual(500)
    await expect(service.show(reference)).rejects.toThrow()
    log.warn('nested', { error })
  }
  broken.mockRestore()
}

beforeAll(async () => {
  await sendAsOperator()
  await sendAsCaller()
  await sendAsBank()
  await runSettlement(await respondAsReceiver())
  await causeFaults()
}, 120_000)

const lines = () => {
  const texts = written.join('').trimEnd().split('\n')
  return texts.map((line) => JSON.parse(line))
}

test('each line is one JSON object with a level for any field value', () => {
  expect(lines().length).toBeGreaterThan(100)
  for (const line of lines()) expect(line.level ?? line._aws).toBeDefined()
})

test('no line contains a phone number, name, account, text, token, secret or signature', () => {
  const all = written.join('')
  expect(canaries.length).toBeGreaterThan(80)
  for (const canary of canaries) {
    const where = lines().filter((line) => JSON.stringify(line).includes(canary))
    expect(where, canary).toEqual([])
    expect(all.includes(encodeURIComponent(canary)), canary).toBe(false)
    expect(all.toLowerCase().includes(canary.toLowerCase()), canary).toBe(false)
  }
})

describe('a line', () => {
  const of = (message: string) => lines().filter((line) => line.message === message)

  test('of a request and its fault has the request id of the caller', () => {
    expect(of('request').length).toBeGreaterThan(30)
    for (const line of [...of('request'), ...of('operator')]) {
      expect(line).toHaveProperty('operation')
      expect(line.request_id).toMatch(/^[0-9a-f-]{36}$/)
    }
  })

  test('of an attempt names the debit, delivery and event, and of a rejected report the debit', () => {
    const reference = expect.stringMatching(/^DCS-/)
    const ids = { delivery_id: expect.any(Number), event_id: expect.any(String) }
    expect(of('delivery attempted').length).toBeGreaterThan(10)
    for (const line of of('delivery attempted')) expect(line).toMatchObject({ reference, ...ids })
    const request_id = expect.stringMatching(/^[0-9a-f-]{36}$/)
    expect(of('bank report rejected')[0]).toMatchObject({ reference, request_id })
  })

  test('of a fault names the request, message or record, and the kind, text and place of the error', () => {
    expect(of('fault').length).toBeGreaterThan(8)
    for (const line of of('fault')) {
      expect(line.request_id ?? line.message_id ?? line.sequence ?? line.subject).toBeDefined()
      expect(line.error).toMatchObject({ name: expect.any(String), stack: expect.any(Array) })
    }
    const unheard = of('fault').filter(({ error }) => error.name === 'ConnectorFault')
    for (const line of unheard) expect(line.reference).toMatch(/^DCS-/)
    expect(unheard.length).toBeGreaterThan(0)
    const cancelled = of('fault').find(({ error }) => error.name === 'TransactionCanceledException')
    expect(cancelled.error.message).toBe('Transaction cancelled')
  })
})
