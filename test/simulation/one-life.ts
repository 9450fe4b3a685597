import type { APIGatewayProxyResult } from 'aws-lambda'
import * as v from 'valibot'
import { advance } from '../../shared/domain/debits/debit.ts'
import { reversalRefund } from '../../shared/domain/debits/refund.ts'
import type { Reference } from '../../shared/domain/ids.ts'
import { Provider } from '../../shared/domain/providers/provider.ts'
import { real } from '../../shared/runtime.ts'
import { findDebit } from '../../shared/store/debits/debits.ts'
import { refundCreation } from '../../shared/store/debits/refunds.ts'
import { transitionWith } from '../../shared/store/debits/transitions.ts'
import { changeProvider } from '../../shared/store/providers/providers.ts'
import { noWrites } from '../../shared/store/settings.ts'
import type {
  Asked,
  HandOver,
  Item,
  Post,
  Witnessed,
} from '../../simulation/engine/observations.ts'
import { useReportShelf } from '../settlement/report-shelf.ts'
import { demoProvider, NOON, still } from '../support/examples.ts'
import { useReceiver } from '../support/receiver.ts'
import { chargeBody, sampleEvent } from '../support/running-service.ts'
import {
  type FunctionName,
  openSteppedService,
  type SteppedService,
} from '../support/stepped-service/stepped-service.ts'
import { watchWrites } from './watched-writes.ts'

/**
 * Some days in the life of a provider, lived through by the real functions on DynamoDB Local, and
 * witnessed as a simulated world is: debits that complete, fail, run out and are taken back, a
 * receiver that fails once, two nights of settlement and their payments.
 */

const DAY_SECONDS = 86_400
const TO_MIDNIGHT_SECONDS = DAY_SECONDS / 2
/** A quarter past: what was due at midnight is there. */
const SOON_SECONDS = 900

const COMPLETED = { status: 'completed', approval_method: 'ussd' }

const receiver = useReceiver()

/** The receiver fails once: at this post. */
const FAILED_POST = 2

const DAILY_LIMIT = 450_00
export const FEE_SCHEDULE = { basisPoints: 150, fixed: 10 }

const provider = v.parse(Provider, {
  ...demoProvider,
  dailyLimit: DAILY_LIMIT,
  feeSchedule: FEE_SCHEDULE,
  settlementAccount: { bank: 'GCB', accountNumber: '1234567890', accountName: 'Demo Ltd' },
})

const EVENTS = [
  'transaction.created',
  'transaction.pending',
  'transaction.processing',
  'transaction.completed',
  'transaction.failed',
  'transaction.reversed',
  'settlement.completed',
] as const

const CALLERS: Record<string, Asked['caller']> = {
  charge: { kind: 'provider', id: 'demo' },
  'get-debit-request': { kind: 'provider', id: 'demo' },
  'update-debit-transaction': { kind: 'bank', id: 'GCB' },
}

const TRIES = 5

/** Asks as a provider or a bank does, and again where no answer comes; each try is noted. */
const askingOf = (world: SteppedService, { asking }: { asking: { invocation: number } }) => {
  const asked: Asked[] = []
  const now = (): number => world.now().getTime()
  const ask = async (name: FunctionName, sent: object, path: Record<string, string> = {}) => {
    const event = { ...(await sampleEvent(name)), body: JSON.stringify(sent), pathParameters: path }
    for (let tried = 0; tried < TRIES; tried += 1) {
      const at = now()
      const invocation = asked.length + 1
      asking.invocation = invocation
      const answer = await world.run<APIGatewayProxyResult>(name, event)
      asking.invocation = 0
      const reply = repliedBy(answer, now())
      const caller = CALLERS[name]
      asked.push({ at, name, invocation, caller, path, sent, reply, heard: true })
      if (answer.statusCode < 500) return JSON.parse(answer.body)
    }
    throw new Error(`${name} does not answer`)
  }
  return { asked, ask }
}

const repliedBy = ({ statusCode, headers = {}, body }: APIGatewayProxyResult, at: number) => {
  return { at, status: statusCode, headers, body: JSON.parse(body), raw: body }
}

type Ask = ReturnType<typeof askingOf>['ask']

const charge = async (ask: Ask, fields: object = {}) => {
  // Of an account whose bank accepts, and then is silent.
  const body = chargeBody({ phone_number: '+233244444444', ...fields })
  const { data } = await ask('charge', body)
  return { reference: data?.reference as Reference, uuid: String(data?.response.uuid), body }
}

const report = (ask: Ask, uuid: string, members: object) =>
  ask('update-debit-transaction', { bank_reference: 'GCB-0001', ...members }, { uuid })

/** As an operator does. */
const reverse = async (reference: Reference, at: Date): Promise<void> => {
  const debit = await findDebit(reference)
  if (!debit) throw new Error(`No debit ${reference}`)
  const cause = { at, by: 'operator:local:ama', requestId: 'request-of-operator' }
  const changes = { metadata: { reversal_reason: 'Order cancelled' } }
  await transitionWith(
    debit,
    (now) => advance(now, { ...cause, to: 'reversed', changes }),
    (_before, after) => [refundCreation(reversalRefund(after))],
    still(),
  )
}

const night = async (world: SteppedService): Promise<void> => {
  world.queues.put('settlement-runs', '{}')
  await world.pass(SOON_SECONDS)
}

/** @returns the references, by what becomes of them */
const liveThrough = async (world: SteppedService, ask: Ask) => {
  const metadata = { order: { number: 7 }, 'amount due': '5' }
  const reversed = await charge(ask, { metadata })
  await world.settle()
  const settled = await charge(ask, { amount: '43.00' })
  const failed = await charge(ask)
  const expired = await charge(ask)
  await ask('charge', settled.body)
  await ask('charge', { ...settled.body, amount: '44.00' })
  await charge(ask, { amount: '400.00' })
  await world.settle()
  await world.pass(20)
  await ask('get-debit-request', {}, { reference: settled.reference })
  await report(ask, reversed.uuid, { ...COMPLETED, fee: '0.75' })
  await report(ask, settled.uuid, COMPLETED)
  await report(ask, settled.uuid, COMPLETED)
  await report(ask, failed.uuid, { status: 'failed', error_message: 'Declined by customer' })
  await world.pass(5)
  await report(ask, failed.uuid, COMPLETED)
  await world.pass(3600)
  const elapsed = (world.now().getTime() - NOON.getTime()) / 1000
  await world.pass(TO_MIDNIGHT_SECONDS - elapsed)
  await night(world)
  await reverse(reversed.reference, world.now())
  const next = await charge(ask)
  await world.settle()
  await report(ask, next.uuid, COMPLETED)
  // The second run of the same night, which is too early for both.
  await night(world)
  await world.pass(DAY_SECONDS - 2 * SOON_SECONDS)
  await night(world)
  await world.pass(DAY_SECONDS - SOON_SECONDS)
  await night(world)
  await world.pass(3 * 3600)
  for (const { reference } of [reversed, failed]) await ask('get-debit-request', {}, { reference })
  const references = [reversed, settled, failed, expired, next].map(({ reference }) => reference)
  const [first = '', second = '', third = '', fourth = '', fifth = ''] = references
  return { reversed: first, settled: second, failed: third, expired: fourth, next: fifth }
}

export type Life = Awaited<ReturnType<typeof witnessLife>>

export const witnessLife = async () => {
  const world = await openSteppedService({ url: receiver.url(), events: [...EVENTS] })
  const { url, secret } = world.webhook
  const posts: Post[] = []
  receiver.otherwise = ({ headers, raw }) => {
    const code = posts.length === FAILED_POST ? 500 : 204
    const at = world.now().getTime()
    posts.push({ at, url, headers: headers as Record<string, string>, raw, code, heard: true })
    return code
  }
  useReportShelf()
  await changeProvider(provider.id, () => provider, noWrites, real)
  const writes = await watchWrites(() => world.now().getTime())
  const { asked, ask } = askingOf(world, writes)
  const names = await liveThrough(world, ask)
  const items = (await world.items()) as Item[]
  const witnessed: Witnessed = {
    scene: {
      seed: 1,
      referencePrefix: 'DCS',
      startedAt: NOON.getTime(),
      healedAt: NOON.getTime(),
      endedAt: world.now().getTime(),
      healthy: true,
      skew: 0,
      providers: [
        {
          id: provider.id,
          webhook: { url, secret, events: EVENTS },
          dailyLimit: DAILY_LIMIT,
          feeSchedule: FEE_SCHEDULE,
        },
        { id: 'other', webhook: undefined, dailyLimit: undefined, feeSchedule: undefined },
      ],
      banks: ['GCB'],
      endpoints: [],
    },
    items,
    changes: writes.changes,
    asked,
    posts,
    handOvers: items.flatMap(handedOver),
    questions: [],
    invocations: new Map(),
    deadLetters: [],
  }
  return { witnessed, names }
}

const inGhs = (amount: unknown): string => (Number(amount) / 100).toFixed(2)

/** The bank here is the sandbox's own: what another would be handed follows from the items. */
const handedOver = (item: Item): HandOver[] => {
  const common = { bank: 'GCB', effective: true, idempotencyKey: String(item.uuid) }
  if (item.entity === 'debit') {
    const { uuid, reference, phone, amount, narration, history } = item
    const at = Number((history as { at: number }[])[0]?.at)
    const body = {
      uuid,
      reference,
      phone_number: phone,
      amount: inGhs(amount),
      currency: 'GHS',
      narration,
      timestamp: new Date(at).toISOString(),
    }
    return [{ ...common, at, path: '/submissions', body, verdict: 'accepted' }]
  }
  if (item.entity !== 'batch' || !item.paid) return []
  const { uuid, id, provider, paid, paidTo, date, processedAt } = item
  const { accountNumber, accountName } = paidTo as Record<string, string>
  const body = {
    uuid,
    batch: id,
    provider,
    account_number: accountNumber,
    account_name: accountName,
    amount: inGhs(paid),
    currency: 'GHS',
    date,
  }
  const at = Date.parse(String(processedAt))
  return [{ ...common, at, path: '/settlements', body, verdict: 'paid' }]
}
