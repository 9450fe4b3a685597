import { createServer, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
import type { Context, SQSEvent } from 'aws-lambda'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expireDebit } from '../../functions/jobs/expire-debit.ts'
import { submitSidelined } from '../../functions/jobs/submit-sidelined.ts'
import { submitToBank } from '../../functions/jobs/submit-to-bank.ts'
import { newAws } from '../../sandbox/aws/aws.ts'
import { startRealClock } from '../../sandbox/aws/clock.ts'
import { faultless } from '../../sandbox/aws/conditions.ts'
import { queueUrl } from '../../sandbox/aws/queues.ts'
import { answerCalls, perform } from '../../sandbox/aws/sdk.ts'
import type { BankIdentifier } from '../../shared/domain/banks/bank.ts'
import type { Debit } from '../../shared/domain/debits/debit.ts'
import type { Status } from '../../shared/domain/debits/lifecycle.ts'
import { queueNames } from '../../shared/queues/messages.ts'
import { expiry, submission } from '../../shared/queues/outbox.ts'
import { sendAllOrThrow } from '../../shared/queues/send.ts'
import { queueUrlVariable, real } from '../../shared/runtime.ts'
import { connectorWrite } from '../../shared/store/banks/connector-settings.ts'
import { changeBankHealth } from '../../shared/store/banks/health.ts'
import { findDebits } from '../../shared/store/debits/debits.ts'
import { keys } from '../../shared/store/keys.ts'
import { read, table } from '../../shared/store/table.ts'
import { eventually } from '../support/eventually.ts'
import { gcb, pendingDebit } from '../support/examples.ts'
import { captureOutput } from '../support/output.ts'
import { useServer } from '../support/servers.ts'
import { storeBank, storeDebit } from '../support/settings.ts'

/** Three banks with shared workers, one of which hangs: real functions on the in-memory AWS. */

captureOutput()

const PROMPT_MS = 50
const held: ServerResponse[] = []
/** Requests to the bank that hangs: method and uuid. */
const requests: string[] = []
let isHanging = false

type SentEntry = { MessageBody: string; DelaySeconds: number }
/** The messages to the sidelined queue. */
const moved: SentEntry[] = []

const server = createServer(async (incoming, response) => {
  const { method, url = '' } = incoming
  const [, bank, , queried] = url.split('/')
  const { uuid, amount } = JSON.parse((await text(incoming)) || '{}')
  if (bank === 'HNG') {
    requests.push(`${method} ${uuid ?? queried}`)
    if (isHanging) return held.push(response)
  }
  await pause(PROMPT_MS)
  const reply = { status: 'accepted', uuid, amount, bank_reference: `${bank}-1` }
  return response.writeHead(method === 'POST' ? 202 : 404).end(JSON.stringify(reply))
})
const address = useServer(server)

/** Debits of the bank that hangs, charged when it was known as slow. */
const sidelined: Debit[] = []

const functions = {
  'submit-to-bank': submitToBank(real),
  'submit-sidelined': submitSidelined(real),
  'expire-debit': expireDebit(real),
}
const clock = startRealClock()
const aws = newAws({
  clock,
  tableName: 'banks',
  // Forty submissions at a time.
  conditions: { ...faultless, workers: () => 4 },
  invoke: async (name, event) => {
    const job = functions[name as keyof typeof functions]
    return { kind: 'done', value: job && (await job(event as SQSEvent, {} as Context)) }
  },
})

beforeAll(async () => {
  Object.assign(process.env, { TABLE_NAME: 'banks', SEALING_KEY: 'k', LOCAL_PEERS: '127.0.0.1' })
  for (const queue of queueNames) process.env[queueUrlVariable(queue)] = queueUrl(queue)
  answerCalls(({ constructor: { name }, input }) => {
    const { QueueUrl, Entries = [] } = input as { QueueUrl?: string; Entries?: SentEntry[] }
    if (QueueUrl === queueUrl('submissions-sidelined')) moved.push(...Entries)
    return perform(() => aws.perform(name, input))
  })
  for (const identifier of ['HNG', 'ONE', 'TWO'] as (typeof gcb.identifier)[]) {
    await storeBank({ ...gcb, identifier, connector: 'http' })
    const settings = { url: `${address()}/${identifier}`, secret: 'cs_secret' }
    const write = await connectorWrite(identifier, settings, real)
    await table.send(new TransactWriteCommand({ TransactItems: [write] }))
  }
})
afterAll(() => {
  clock.stop()
  for (const response of held) response.destroy()
})

const charge = async (identifier: string, createdAt: Date): Promise<Debit> => {
  const bank = { identifier, name: identifier } as Debit['facts']['bank']
  const debit = pendingDebit({ bank }, createdAt)
  await storeDebit(debit)
  return debit
}

/** Charges debits, as many at each bank, and sends their messages. Returns those of the bank that hangs. */
const chargeAll = async ({
  each = 40,
  createdAt = new Date(),
  message = ({ facts }: Debit) => submission(facts, { resubmission: false }),
} = {}) => {
  const banks = Array.from({ length: each }, () => ['HNG', 'ONE', 'TWO']).flat()
  const debits = await Promise.all(banks.map((bank) => charge(bank, createdAt)))
  await sendAllOrThrow(debits.map(message))
  const [hanging = [], others = []] = [true, false].map((isIn) =>
    debits.filter(({ facts }) => (facts.bank.identifier === 'HNG') === isIn),
  )
  return { hanging, others }
}

const countIn = async (status: Status, debits: readonly Debit[]): Promise<number> => {
  const found = await findDebits(
    debits.map(({ facts }) => facts.reference),
    () => undefined,
  )
  return [...found.values()].filter((debit) => debit.status === status).length
}

/** On a busy machine a prompt bank seems slow, and its debits wait for twenty seconds. */
const BUSY_SECONDS = 90

/** Waits until all debits are at their bank. */
const submitted = (debits: readonly Debit[]): Promise<void> =>
  eventually(
    async () => expect(await countIn('processing', debits)).toBe(debits.length),
    BUSY_SECONDS,
  )

const referenceOf = ({ facts: { reference } }: Debit) => reference

test('a bank that hangs is found slow, and its next debits are moved without a request', async () => {
  const { hanging, others } = await chargeAll()
  await submitted([...hanging, ...others])
  // On a busy machine the prompt bank seemed slow.
  moved.splice(0)
  isHanging = true
  const first = await chargeAll()
  await submitted(first.others)
  expect(await read(keys.bankHealth('HNG'))).toMatchObject({ state: 'slow' })
  const interrupted = first.hanging.filter(({ facts }) => requests.includes(`POST ${facts.uuid}`))
  const expected = interrupted.map(({ facts: { reference } }) => ({
    reference,
    resubmission: true,
  }))
  // The bank has twenty seconds before the query that precedes another POST.
  const delayed = moved.filter(({ DelaySeconds }) => DelaySeconds === 20)
  expect(delayed.length).toBeGreaterThan(0)
  expect(expected).toEqual(
    expect.arrayContaining(delayed.map(({ MessageBody }) => JSON.parse(MessageBody))),
  )
  const second = await chargeAll()
  sidelined.push(...second.hanging)
  await submitted(second.others)
  await eventually(() => {
    const references = moved.map(({ MessageBody }) => JSON.parse(MessageBody).reference)
    expect(references).toEqual(expect.arrayContaining(second.hanging.map(referenceOf)))
  })
  expect(await countIn('processing', [...first.hanging, ...second.hanging])).toBe(0)
}, 300_000)

test('the bank gets one POST of each debit, and a query before another, and is found prompt again', async () => {
  const before = requests.length
  isHanging = false
  // Workers that still wait for it get no reply.
  for (const response of held.splice(0)) response.destroy()
  const third = await chargeAll()
  await submitted([...third.hanging, ...sidelined])
  expect(await read(keys.bankHealth('HNG'))).toMatchObject({ state: 'up' })
  const since = requests.slice(before)
  for (const { facts } of third.hanging) {
    const own = since.filter((line) => line.endsWith(facts.uuid))
    expect(own).toEqual([`POST ${facts.uuid}`])
  }
  for (const [, lines] of Map.groupBy(requests, (line) => line.split(' ')[1])) {
    for (const [index, line] of lines.entries()) {
      if (index > 0 && line.startsWith('POST')) expect(lines[index - 1]).toMatch(/^GET/)
    }
  }
}, 300_000)

test('the timeouts of a bank that is down follow a query and, as those of others, are less than 20 s late', async () => {
  isHanging = true
  const now = new Date()
  const bank = 'HNG' as BankIdentifier
  await changeBankHealth(bank, (health) => ({ ...health, state: 'down', since: now }), now)
  const { hanging, others } = await chargeAll({
    each: 80,
    createdAt: new Date(Date.now() - 601_000),
    message: ({ facts: { reference } }) => expiry({ reference, phase: 'processing' }),
  })
  const debits = [...hanging, ...others]
  await eventually(async () => expect(await countIn('failed', debits)).toBe(debits.length), 20)
  const queries = hanging.map(({ facts: { uuid } }) => `GET ${uuid}`)
  expect(requests).toEqual(expect.arrayContaining(queries))
}, 60_000)
