import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { gcb, NOON } from '../../sdk/openapi/example-debit.ts'
import {
  advance,
  type Debit,
  openDebit,
  type Transition,
} from '../../shared/domain/debits/debit.ts'
import type { Status } from '../../shared/domain/debits/lifecycle.ts'
import { debitUuid, newReference } from '../../shared/domain/ids.ts'
import { pesewas } from '../../shared/domain/money.ts'
import type { PhoneNumber } from '../../shared/domain/phone.ts'
import { Provider, ProviderId } from '../../shared/domain/providers/provider.ts'
import type { Webhook } from '../../shared/domain/webhooks/webhook.ts'
import type { Runtime } from '../../shared/runtime.ts'

export { gcb, NOON }

export const providerId = (id: string) => v.parse(ProviderId, id)

export const demoProvider = v.parse(Provider, {
  id: 'demo',
  name: 'Demo Payments',
  status: 'active',
  dailyLimit: 50_000_00,
  duplicates: 'return',
})

export const webhook: Webhook = {
  url: 'https://provider.test/webhooks',
  secret: 'whsec_c2VjcmV0',
  timeoutSeconds: 30,
  connectionTimeoutSeconds: 10,
}

// Random references would collide once in a while.
let opened = 0

/** Returns a pending debit with a new reference, uuid and partner reference. */
export const pendingDebit = (facts: Partial<Debit['facts']> = {}, at = NOON): Debit => {
  opened += 1
  const reference = facts.reference ?? newReference('DCS', at, (opened + 0.5) / 36 ** 6)
  return openDebit(
    {
      reference,
      uuid: debitUuid(reference),
      provider: demoProvider.id,
      providerName: demoProvider.name,
      partnerReference: `order-${randomUUID()}`,
      bank: { identifier: gcb.identifier, name: gcb.name },
      phone: '+233241234567' as PhoneNumber,
      amount: pesewas(100_00),
      narration: 'Order 1',
      metadata: {},
      ...facts,
    },
    { at, by: 'provider:demo', requestId: 'request-1' },
  )
}

/** The timing of an attempt. */
export const timing = {
  ...{ id: 'dlv_1_a', at: NOON, milliseconds: 12 },
  ...{ address: '198.51.100.7', sentAs: 'transaction.created' },
}

/** Returns a runtime whose clock stands and whose pauses take no time. */
export const still = (overrides: Partial<Runtime> = {}): Runtime => ({
  now: () => NOON,
  wallTime: () => overrides.now?.() ?? NOON,
  newId: randomUUID,
  random: Math.random,
  randomBytes: (count) => Buffer.alloc(count, 7),
  pause: async () => undefined,
  ...overrides,
})

export const inSeconds = (seconds: number): Date => new Date(NOON.getTime() + seconds * 1000)

/** Repeats concurrent work a number of times. */
export const atOnce = <T>(count: number, work: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)))

/** Returns a transition by the bank, with a request id of its own. */
export const bankMove = (to: Status, transition: Partial<Transition> = {}) => {
  const cause = { at: NOON, by: 'bank:GCB', requestId: randomUUID() }
  return (debit: Debit) => advance(debit, { ...cause, to, changes: {}, ...transition })
}
