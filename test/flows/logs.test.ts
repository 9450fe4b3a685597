import { marshall } from '@aws-sdk/util-dynamodb'
import { beforeAll, expect, test, vi } from 'vitest'
import type { Reference } from '../../shared/domain/ids.ts'
import { eventually } from '../support/eventually.ts'
import { useHttpBank } from '../support/http-bank.ts'
import { captureOutput } from '../support/output.ts'
import { nightAfter } from '../support/payee.ts'
import {
  chargeRequest,
  customerAccount,
  debitChanges,
  debitFacts,
  settlementAccount,
  textsIn,
} from '../support/personal-fields.ts'
import { useReceiver } from '../support/receiver.ts'
import { CHARGE, chargeBody, statusPath } from '../support/requests.ts'
import { rowsOf } from '../support/rows.ts'
import { useService } from '../support/running-service.ts'

/**
 * Log lines of the functions: one JSON object each, without personal data or secrets. Each field that
 * a caller, a bank, a receiver or the operator can send contains a canary, and no line may contain it.
 */

// The default level of the logger, as in production.
process.env.AWS_LAMBDA_LOG_LEVEL = 'INFO'
const service = useService({ timeScale: 60 })
const receiver = useReceiver()

const canaries: string[] = []

/** Returns unique text for a field. */
const canary = (field: string): string => {
  const text = `Canary${field.replaceAll(/[^a-z]/gi, '')}Zq`
  canaries.push(text)
  return text
}

/** Replaces each `{field}` by the canary of the field. */
const withCanaries = (text: string): string =>
  text.replaceAll(/\{(\w[\w ]*)\}/g, (_, field) => canary(field))

const bank = useHttpBank(service, { bank: 'CNB', name: canary('bank name') })

const { text, lines } = captureOutput()

const digits = (number: string): string => canaries[canaries.push(number) - 1] ?? ''

const PHONE = chargeRequest.phone_number
const TOKEN = 'sk_sandbox_canary_token'
const BANK_TOKEN = 'bt_sandbox_cnb'
canaries.push(TOKEN, BANK_TOKEN, PHONE.slice(1), bank.secret)

const people = [debitFacts, debitChanges, customerAccount, settlementAccount]
/** Each personal field has a text with letters or eight digits. */
const longTexts = ['CanaryNarrationZq', ...people.flatMap(textsIn)]
canaries.push(...longTexts.filter((text) => text.length >= 8))

const charge = (fields: object = {}, headers: Record<string, string> = {}) => {
  const body = chargeBody({ ...chargeRequest, bank_identifier: 'CNB', ...fields })
  return service.send('POST', CHARGE, { credential: TOKEN, headers, body })
}

/** Creates a debit at the canary's bank and waits for a number of its events. */
const debit = async (name: string, events: number, fields: object = {}) => {
  const partner_reference = `${chargeRequest.partner_reference} ${name}`
  const { body } = await charge({ partner_reference, ...fields })
  await receiver.events(body.data.reference, events)
  return { reference: String(body.data.reference), uuid: String(body.data.response.uuid) }
}

const report = (uuid: string, body: object | string) => service.report(uuid, body, BANK_TOKEN)

const sendAsOperator = async () => {
  const { accountNumber, accountName } = settlementAccount
  const account = { 'settlement-account': accountNumber, 'settlement-name': accountName }
  const named = { provider: 'canary', name: canary('provider name') }
  await service.call('provider', 'create', { ...named, 'settlement-bank': 'CNB', ...account })
  const signed = { provider: 'canary-signed', name: 'Signed' }
  const requestSecret = { 'request-secret': canary('request secret') }
  await service.call('provider', 'create', { ...signed, ...requestSecret })
  await service.call('credential', 'issue', { provider: 'canary', token: TOKEN })
  canaries.push((await service.call('credential', 'issue', { provider: 'canary' })).token)
  const { customerName, accountNumber: number } = customerAccount
  const holder = { name: customerName, 'account-number': number }
  await service.call('customer', 'link', { phone: PHONE, bank: 'CNB', ...holder })
  const url = receiver.url(`/${canary('webhook path')}?token=${canary('webhook query')}`)
  canaries.push((await service.call('webhook', 'set', { provider: 'canary', url })).secret)
  // Rejected values must not be logged either.
  const wrong = rowsOf(`
    webhook set provider=canary url=http://{user info}:{password}@127.0.0.1:1/
    webhook set provider=canary url=https://{host}.test/
    webhook {verb}
    customer link {option}={option value}
    customer show bank=CNB phone=+${digits('233246666666')}
    credential revoke token={revoked token}
    provider update provider={provider id}
    limit set provider=canary daily-limit={limit}
    debit reverse reason={reason} reference={reference}
  `)
  for (const [words = ''] of wrong) {
    const [noun = '', verb = '', ...options] = withCanaries(words).split(' ')
    const sent = Object.fromEntries(options.map((option) => option.split(/=(.*)/)))
    expect(await service.refusal(noun, verb, sent)).toBeDefined()
  }
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
  const bodies = rowsOf(`
    {"phone_number": "{broken json}
    {"narration": {bare word}}
    {text}
    {"a": "{doubled}", "a": 1}
  `)
  for (const [body = ''] of bodies) await send(withCanaries(body))
  await send(Buffer.from(`{"a":"${canary('not utf8')}\xff"}`, 'latin1'))
  await send('{}', { headers: { 'Content-Type': `text/${canary('content type')}` } })
  await send('{', { credential: canary('bad token') })
  await service.get(`/${canary('unknown path')}`, TOKEN)
  const paths = rowsOf(`
    debit-requests/{path reference}
    debit-requests?status={status}&{query name}=1
    debit-requests?status=failed&cursor={cursor}
    events?after={after}
    banks/{bank in path}
    banks/lookup/${encodeURIComponent(PHONE)}
    banks/lookup/{phone in path}
    settlements/{batch}
  `)
  for (const [path = ''] of paths) {
    await service.get(`/api/v1/payment-providers/${withCanaries(path)}`, TOKEN)
  }
  const list = `/api/v1/banks/debit-transactions?phone_number=${encodeURIComponent(PHONE)}`
  await service.get(list, BANK_TOKEN)
}

const saying = (status: number, body: string, headers = {}) =>
  bank.conducts.push({ status, body: withCanaries(body), headers })

const sendAsBank = async () => {
  const one = await debit('update', 3)
  await report(one.uuid, `{"status": "${canary('broken update')}`)
  const method = { approval_method: canary('approval method') }
  await report(one.uuid, { status: canary('update status'), fee: canary('fee'), ...method })
  await report(canary('uuid'), { status: 'completed', bank_reference: 'x' })
  const { bankReference: bank_reference, errorMessage: error_message, metadata } = debitChanges
  await report(one.uuid, { status: 'failed', bank_reference, error_message, metadata })
  // The line of a rejected report contains the debit and no text of the bank.
  await report(one.uuid, { status: 'completed', bank_reference: canary('late bank reference') })
  const resolution = { kind: 'late_completion', note: canary('note') }
  await service.call('exception', 'resolve', { reference: one.reference, ...resolution })
  saying(422, '{"status":"rejected","code":"{code}","message":"{words}"}')
  await debit('rejected', 3)
  saying(200, '{bank body}', { [canary('bank header')]: canary('bank header value') })
  await debit('garbage', 2)
  saying(500, '{bank fault}')
  await debit('fault', 2)
  return one
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
  saying(422, '{"status":"rejected","message":"{payment words}"}')
  for (const date of [nightAfter(0), nightAfter(1)]) {
    await service.call('settlement', 'run', { date, provider: 'canary' })
  }
  expect(bank.requests.some(({ path }) => path.endsWith('/settlements'))).toBe(true)
  // The payout is sent again at any time.
  bank.conducts.push('reject', 'reject')
  await service.call('debit', 'reverse', { reference, reason: canary('reversal reason') })
  const { error_message } = await eventually(async () => {
    const { refund } = await service.show(reference)
    expect(refund.status).toBe('failed')
    return refund
  })
  canaries.push(error_message)
}

const causeFaults = async () => {
  await service.runJob('submit-to-bank', `{"reference":"${canary('poison')}"}`)
  const NewImage = { entity: { S: 'debit' }, x: { S: canary('record') } }
  await service.invoke('relay', { Records: [{ dynamodb: { SequenceNumber: '1', NewImage } }] })
  // Imported late: they read their environment when they are loaded.
  const { log } = await import('../../shared/log.ts')
  const { table } = await import('../../shared/store/table.ts')
  const send = table.send.bind(table) as (command: unknown) => Promise<unknown>
  const broken = vi.spyOn(table, 'send')
  const Item = marshall(Object.assign({ item: canary('item') }, ...people))
  const CancellationReasons = [{ Code: 'ConditionalCheckFailed', Item }]
  const cause = new SyntaxError(`"${canary('cause')}" is not JSON`)
  // Members as the SDK, valibot and Node add them.
  const errors: [string, object][] = [
    ['Transaction cancelled', { name: 'TransactionCanceledException', CancellationReasons }],
    [`received "${canary('vali')}"`, { name: 'ValiError', issues: [{ input: Item }] }],
    [`No account ${PHONE}`, { cause }],
    ['Invalid URL', { name: 'TypeError', code: 'ERR_INVALID_URL', input: canary('input') }],
  ]
  const reference = 'DCS-20261121-ABC123'
  for (const [message, members] of errors) {
    const error = Object.assign(new Error(message), members)
    broken.mockImplementation((async (command: { input: object }) => {
      if (JSON.stringify(command.input).includes(`DEBIT#${reference}`)) throw error
      return send(command)
    }) as never)
    const { status } = await service.get(statusPath(reference), TOKEN)
    expect(status).toBeGreaterThanOrEqual(500)
    await expect(service.show(reference)).rejects.toThrow()
    log.warn('nested', { error })
  }
  broken.mockRestore()
}

let reported = { reference: '' }

beforeAll(async () => {
  await sendAsOperator()
  await sendAsCaller()
  reported = await sendAsBank()
  await runSettlement(await respondAsReceiver())
  await causeFaults()
}, 120_000)

test('the table contains each personal field of a debit and of the accounts', async () => {
  const { findDebit } = await import('../../shared/store/debits/debits.ts')
  const stored = [
    await findDebit(reported.reference as Reference),
    await service.call('customer', 'show', { phone: PHONE, bank: 'CNB' }),
    await service.call('provider', 'show', { provider: 'canary' }),
  ]
  const texts = textsIn(stored).join('\n')
  expect(people.flatMap(textsIn).filter((text) => !texts.includes(text))).toEqual([])
})

/** An operator sees the order and the bank's words. A new field is hidden until it is here. */
const shown = [
  debitFacts.partnerReference,
  debitFacts.narration,
  debitFacts.metadata,
  debitChanges.bankReference,
  debitChanges.errorMessage,
  debitChanges.metadata,
]

test('an operator sees no personal field of a debit but those of the order and the bank', async () => {
  const { reference } = reported
  const deliveries = await service.call('delivery', 'list', { reference })
  const replies = [
    await service.show(reference),
    await service.call('debit', 'list', { provider: 'canary' }),
    ...(await Promise.all(
      deliveries.map(({ id }: { id: number }) =>
        service.call('delivery', 'show', { id: String(id) }),
      ),
    )),
  ]
  const hidden = [debitFacts, debitChanges]
    .flatMap(textsIn)
    .filter((text) => !textsIn(shown).includes(text))
  const text = JSON.stringify(replies)
  expect(deliveries.length).toBeGreaterThan(0)
  expect(text).toContain('CanaryNarrationZq')
  expect(hidden).toContain(customerAccount.customerName)
  expect(hidden.filter((canary) => text.includes(canary))).toEqual([])
})

test('each line is one JSON object with a level for any field value', () => {
  expect(lines().length).toBeGreaterThan(100)
  for (const line of lines()) expect(line.level ?? line._aws).toBeDefined()
})

test('no line contains a phone number, name, account, text, token, secret or signature', () => {
  const all = text().toLowerCase()
  expect(canaries.length).toBeGreaterThan(80)
  const isPrinted = (canary: string) => all.includes(canary.toLowerCase())
  expect(canaries.filter(isPrinted)).toEqual([])
  expect(canaries.map(encodeURIComponent).filter(isPrinted)).toEqual([])
})

const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/)
const reference = expect.stringMatching(/^DCS-/)
const requestId = expect.stringMatching(/^[\w-]{15}=$/)
const operation = expect.any(String)
const ids = { reference, event_id: expect.any(String) }

test.each([
  ['request', 30, { operation, request_id: requestId }],
  ['operator', 0, { operation, request_id: uuid }],
  ['delivery attempted', 10, ids],
  ['bank report rejected', 0, { request_id: requestId }],
  ['refund failed', 0, { reference }],
  ['fault', 8, { error: { name: expect.any(String), stack: expect.any(Array) } }],
])('each line "%s" names its subject', (message, more, expected) => {
  const found = lines().filter((line) => line.message === message)
  expect(found.length).toBeGreaterThan(more)
  const names = found.map(({ error }) => error?.name)
  const faults = ['ConnectorFault', 'TransactionCanceledException']
  if (message === 'fault') expect(names).toEqual(expect.arrayContaining(faults))
  for (const line of found) {
    expect(line).toMatchObject(expected)
    const subject = line.request_id ?? line.message_id ?? line.sequence ?? line.subject
    if (message === 'fault') expect(subject).toBeDefined()
    const { name, message: text } = line.error ?? {}
    if (name === 'ConnectorFault') expect(line).toMatchObject({ reference })
    if (name === 'TransactionCanceledException') expect(text).toBe('Transaction cancelled')
  }
})
