import {
  ConditionalCheckFailedException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb'
import {
  DeleteCommand,
  GetCommand,
  PutCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { mockClient } from 'aws-sdk-client-mock'
import { beforeEach, expect, test } from 'vitest'
import { approve, type Debit } from '../../shared/domain/debits/debit.ts'
import { pesewas } from '../../shared/domain/money.ts'
import { createDebit } from '../../shared/store/debits/charges.ts'
import { toDebitItem } from '../../shared/store/debits/debit-item.ts'
import { transition } from '../../shared/store/debits/transitions.ts'
import { keys, sha256 } from '../../shared/store/keys.ts'
import { put, putIf, remove, table, updateIf } from '../../shared/store/table.ts'
import { changeHealth } from '../../shared/store/webhooks/health.ts'
import { bankMove, NOON, pendingDebit, providerId, still } from '../support/examples.ts'
import { granted, refused } from '../support/refused.ts'

/** Tests what no emulator does: conflicts, throttling, and responses lost after the commit. */

const calls = mockClient(table)
beforeEach(() => calls.reset())

const pauses: number[] = []
const runtime = still({
  random: () => 0.5,
  pause: async (milliseconds) => {
    pauses.push(milliseconds)
  },
})
beforeEach(() => {
  pauses.length = 0
})

const cancelled = (...codes: string[]) =>
  new TransactionCanceledException({
    $metadata: {},
    message: 'cancelled',
    CancellationReasons: codes.map((Code) => ({ Code })),
  })

const conflict = () => new TransactionConflictException({ $metadata: {}, message: 'conflict' })
const lost = () => Object.assign(new Error('socket hang up'), { name: 'TimeoutError' })

const NONE = 'None'
const FAILED = 'ConditionalCheckFailed'
const CONFLICT = 'TransactionConflict'

const open = (debit: Debit) =>
  createDebit({ debit, fingerprint: 'text', dailyLimit: pesewas(50_000_00) }, runtime)

const claimOf = (debit: Debit, text = 'text') => ({
  Item: { reference: debit.facts.reference, request: sha256(text) },
})

const completed = bankMove('completed')
const complete = (debit: Debit) => transition(debit, completed, runtime)

test('each cancellation reason of a charge maps to one result by its position', async () => {
  const debit = pendingDebit({ countedOn: '2026-11-21' })
  const other = pendingDebit()
  const meanings = [
    { codes: [FAILED, NONE, NONE], claim: {}, is: { kind: 'collision' } },
    { codes: [NONE, NONE, FAILED], claim: {}, is: { code: 3005 } },
    { codes: [NONE, FAILED, NONE], claim: claimOf(other), is: { request: sha256('text') } },
    { codes: [NONE, FAILED, FAILED], claim: claimOf(other, 'x'), is: { request: sha256('x') } },
    { codes: [NONE, NONE, FAILED], claim: claimOf(debit), is: { kind: 'created' } },
    // Our own claim: the first request was committed, and its response lost.
    { codes: [FAILED, FAILED, NONE], claim: claimOf(debit), is: { kind: 'created' } },
  ]
  for (const { codes, claim, is } of meanings) {
    calls.reset()
    calls.on(TransactWriteCommand).rejects(cancelled(...codes))
    calls.on(GetCommand).resolves(claim)
    expect(await open(debit), codes.join()).toMatchObject(is)
    expect(calls.commandCalls(TransactWriteCommand)).toHaveLength(1)
  }
})

test('a transaction that is cancelled for another reason than a condition or a conflict throws', async () => {
  calls.on(TransactWriteCommand).rejects(cancelled('ValidationError', NONE, NONE))
  calls.on(GetCommand).resolves({})
  await expect(open(pendingDebit())).rejects.toThrow(TransactionCanceledException)
  const changing = changeHealth(provider, slow, () => [{}])
  await expect(changing).rejects.toThrow(TransactionCanceledException)
})

test('a charge that conflicts on the day total is retried with the same token', async () => {
  const conflicting = cancelled(NONE, NONE, NONE, CONFLICT)
  calls.on(TransactWriteCommand).rejectsOnce(conflicting).rejectsOnce(conflicting).resolves({})
  expect(await open(pendingDebit({ countedOn: '2026-11-21' }))).toMatchObject({ kind: 'created' })
  const sent = calls.commandCalls(TransactWriteCommand)
  const [token, ...others] = sent.map(({ args }) => args[0].input.ClientRequestToken ?? '')
  expect(token?.length).toBeLessThanOrEqual(36)
  expect(others).toEqual([token, token])
})

test.each([CONFLICT, 'ThrottlingError', 'ProvisionedThroughputExceeded'])(
  'a failed condition together with %s is retried',
  async (code) => {
    calls
      .on(TransactWriteCommand)
      .rejectsOnce(cancelled(NONE, code, NONE, FAILED))
      .rejectsOnce(cancelled(NONE, FAILED, NONE, FAILED))
    const other = pendingDebit()
    calls.on(GetCommand).resolves(claimOf(other))
    expect(await open(pendingDebit())).toMatchObject({
      kind: 'existing',
      reference: other.facts.reference,
    })
    expect(calls.commandCalls(TransactWriteCommand)).toHaveLength(2)
  },
)

test('a conflict is thrown after twelve seconds of growing, capped pauses', async () => {
  calls.on(TransactWriteCommand).rejects(cancelled(NONE, NONE, NONE, CONFLICT))
  calls.on(GetCommand).resolves({})
  await expect(open(pendingDebit())).rejects.toThrow(TransactionCanceledException)
  expect(pauses.slice(0, 7)).toEqual([20, 40, 80, 160, 320, 500, 500])
  const total = pauses.reduce((sum, pause) => sum + pause, 0)
  expect(total).toBeGreaterThanOrEqual(12_000)
  expect(total).toBeLessThan(12_600)
})

test('a charge whose response is lost returns the debit of the claim, or fails without one', async () => {
  const [debit, other] = [pendingDebit(), pendingDebit()]
  calls.on(TransactWriteCommand).rejects(lost())
  calls.on(GetCommand).resolves(claimOf(debit))
  expect(await open(debit)).toEqual({ kind: 'created', debit })
  calls.on(GetCommand).resolves(claimOf(other))
  const { reference } = other.facts
  expect(await open(debit)).toEqual({ kind: 'existing', reference, request: sha256('text') })
  calls.on(GetCommand).resolves({})
  await expect(open(debit)).rejects.toThrow('socket hang up')
})

test('an approval that another write overtakes is written again', async () => {
  const debit = pendingDebit()
  const processing = granted(bankMove('processing')(debit))
  const cause = { at: NOON, by: 'bank:GCB', requestId: 'r-1' }
  const approved = granted(approve(processing, cause))
  calls
    .on(UpdateCommand)
    .rejectsOnce(new ConditionalCheckFailedException({ $metadata: {}, message: 'changed' }))
    .resolves({ Attributes: toDebitItem(approved) })
  calls.on(GetCommand).resolves({ Item: toDebitItem(processing) })
  const result = await transition(debit, (current) => approve(current, cause), runtime)
  expect(granted(result).approval).toEqual(cause)
  expect(calls.commandCalls(UpdateCommand)).toHaveLength(2)
})

test('a transition that conflicts with another write is retried', async () => {
  const debit = pendingDebit()
  const Attributes = toDebitItem({ ...debit, status: 'completed' })
  calls.on(UpdateCommand).rejectsOnce(conflict()).resolves({ Attributes })
  expect(await complete(debit)).toMatchObject({ status: 'completed' })
  expect(calls.commandCalls(UpdateCommand)).toHaveLength(2)
})

const provider = providerId('demo')
const key = keys.webhookHealth(provider)
const slow = () => ({ slowSince: NOON })

test.each([
  ['put', PutCommand, () => put(key, 'x', {})],
  ['conditional put', PutCommand, () => putIf(key, {})],
  ['single update', UpdateCommand, () => updateIf(key, { UpdateExpression: 'SET a = b' })],
  ['removal', DeleteCommand, () => remove(key)],
  ['change of the health', PutCommand, () => changeHealth(provider, slow)],
] as const)('a %s that conflicts with a transaction is retried', async (_, command, write) => {
  calls.on(GetCommand).resolves({})
  calls
    .on(command as typeof PutCommand)
    .rejectsOnce(conflict())
    .resolves({})
  expect(await write()).not.toBe(false)
  expect(calls.commandCalls(command as typeof PutCommand)).toHaveLength(2)
})

test('a change of the health that is recorded is retried after a conflict', async () => {
  calls.on(GetCommand).resolves({})
  calls.on(TransactWriteCommand).rejectsOnce(cancelled(CONFLICT, NONE)).resolves({})
  expect(await changeHealth(provider, slow, () => [{}])).toEqual(slow())
})

test('a change of the health that loses every race throws', async () => {
  const changed = new ConditionalCheckFailedException({ $metadata: {}, message: 'changed' })
  calls.on(GetCommand).resolves({})
  calls.on(PutCommand).rejects(changed)
  await expect(changeHealth(provider, slow)).rejects.toThrow('changed 50 times')
})

test('a transition whose response is lost succeeds if it was committed', async () => {
  const debit = pendingDebit()
  const after = granted(completed(debit))
  calls.on(UpdateCommand).rejects(lost())
  calls.on(GetCommand).resolves({ Item: toDebitItem(after) })
  expect(await complete(debit)).toMatchObject({ status: 'completed' })
  calls.on(GetCommand).resolves({ Item: toDebitItem(debit) })
  await expect(complete(debit)).rejects.toThrow('socket hang up')
})

test('a transition of the same message by another worker is not its own', async () => {
  const debit = pendingDebit()
  const cause = { at: NOON, requestId: 'message-1' }
  const complete = bankMove('completed', cause)
  // Two workers received the message in the same millisecond, and only one got a reply of the bank.
  const timedOut = granted(bankMove('failed', { ...cause, by: 'job:expire-debit' })(debit))
  const conflict = { $metadata: {}, message: 'changed' }
  calls.on(UpdateCommand).rejects(new ConditionalCheckFailedException(conflict))
  calls.on(GetCommand).resolves({ Item: toDebitItem(timedOut) })
  expect(refused(await transition(debit, complete, runtime)).code).toBe('422/3001')
})
