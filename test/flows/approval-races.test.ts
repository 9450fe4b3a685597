import { expect } from 'vitest'
import type { Batch } from '../../shared/domain/settlement/batch.ts'
import { type Day, dayOf } from '../../shared/domain/time.ts'
import { keys } from '../../shared/store/keys.ts'
import { toBatchItem } from '../../shared/store/settlement/batch-item.ts'
import { findBatch } from '../../shared/store/settlement/batches.ts'
import { put } from '../../shared/store/table.ts'
import { nightAfter } from '../support/payee.ts'
import { createProvider } from '../support/provider.ts'
import { type Shown, testInProcess, useService } from '../support/running-service.ts'
import { aroundTableCalls } from '../support/table-calls.ts'

/** Two concurrent operators: no change that one makes during a call of the other avoids an approval. */

const service = useService({ approvals: true })
const { call, operate } = service

type Call = readonly [noun: string, verb: string, options: Record<string, string>]
type Reply = { result?: Shown; error?: string }

const make = ([noun, verb, options]: Call, actor: string) =>
  operate(noun, verb, options, actor) as Promise<Reply>

/** Makes the second call just before the given table call of the first one. */
const race = async (first: Call, second: Call, before: number) => {
  let [calls, others] = [0, undefined as Promise<Reply> | undefined]
  const restore = aroundTableCalls(async (_name, next) => {
    if (calls === before) {
      calls += 1
      others = make(second, 'local:ama')
      await others
    } else if (!others) calls += 1
    return next()
  })
  const reply = await make(first, 'local:mallory').finally(restore)
  return { reply, other: await others, isOver: others === undefined }
}

const hook = (path: string) => `http://127.0.0.1:9/${path}`

type Race = {
  first: Call
  second: Call
  isAvoided: (reply: Reply, other: Reply) => Promise<boolean>
}

const races: Record<string, (id: string) => Promise<Race>> = {
  'a provider that is disabled during the call stays disabled': async (id) => {
    await service.chargeCompleted({}, 'sk_sandbox_other')
    await call('settlement', 'run', { date: nightAfter(Number(id)), provider: 'other' })
    return {
      first: ['provider', 'enable', { provider: 'other' }],
      second: ['provider', 'disable', { provider: 'other' }],
      isAvoided: async () => {
        const { status } = await call('provider', 'show', { provider: 'other' })
        await service.approved('provider', 'enable', { provider: 'other' })
        return status === 'active'
      },
    }
  },
  'a bank that is suspended during the call stays suspended': async () => {
    const bank = 'ECO'
    await service.approved('bank', 'enable', { bank })
    return {
      first: ['bank', 'enable', { bank }],
      second: ['bank', 'update', { bank, status: 'suspended' }],
      isAvoided: async () => (await call('bank', 'show', { bank })).status !== 'suspended',
    }
  },
  'a webhook that is removed during the call prints no new secret': async (id) => {
    const provider = `removed-${id}`
    await createProvider(service, provider)
    await call('webhook', 'set', { provider, url: hook('own') }, 'local:ama')
    return {
      first: ['webhook', 'set', { provider, url: hook('own') }],
      second: ['webhook', 'remove', { provider }],
      isAvoided: async ({ result }) => Boolean(result?.secret),
    }
  },
  'a first URL that is set during the call is not replaced': async (id) => {
    const provider = `first-${id}`
    await createProvider(service, provider)
    return {
      first: ['webhook', 'set', { provider, url: hook('evil') }],
      second: ['webhook', 'set', { provider, url: hook('honest') }],
      isAvoided: async (...replies) => replies.every(({ result }) => result?.url),
    }
  },
}

testInProcess.each(Object.entries(races))(
  'a change of one operator during a call of another avoids no approval: %s',
  async (_name, prepare) => {
    const avoided: number[] = []
    for (let before = 0; before < 100; before += 1) {
      const { first, second, isAvoided } = await prepare(String(before))
      const { reply, other, isOver } = await race(first, second, before)
      if (isOver) break
      if (await isAvoided(reply, other ?? {})) avoided.push(before)
      expect(before).toBeLessThan(99)
    }
    expect(avoided).toEqual([])
  },
)

testInProcess(
  'a payout that gets a later day during the call is refused, and the operator must call again',
  async () => {
    await service.chargeCompleted({}, 'sk_sandbox_other')
    const { built } = await call('settlement', 'run', { date: nightAfter(0), provider: 'other' })
    const batch = (await findBatch(built[0].id)) as Batch
    const payOn = (day: Day) =>
      put(keys.batch(batch.id), 'batch', toBatchItem({ ...batch, payOn: day }))
    await payOn(dayOf(new Date()))
    const restore = aroundTableCalls(async (name, next, text) => {
      const reply = await next()
      if (name === 'Get' && text().includes(batch.id)) await payOn(nightAfter(1))
      return reply
    })
    const options = { batch: batch.id, 'any-day': 'true' }
    const reply = await operate('settlement', 'process', options).finally(restore)
    const error = 'another operator made a change during this call: call again'
    expect(reply).toEqual({ error })
  },
)
