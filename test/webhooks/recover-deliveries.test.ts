import { beforeEach, expect, test } from 'vitest'
import { recoverDeliveries } from '../../functions/jobs/recover-deliveries.ts'
import { abandon, newDelivery, recordAttempt } from '../../shared/domain/webhooks/delivery.ts'
import { RECOVERY_PAGE, requestedRecovery } from '../../shared/domain/webhooks/recovery.ts'
import { listDeliveries, replaceDelivery } from '../../shared/store/webhooks/deliveries.ts'
import { changeHealth, findHealth } from '../../shared/store/webhooks/health.ts'
import { findRecovery, openRecovery } from '../../shared/store/webhooks/recoveries.ts'
import { debitEvent } from '../../shared/views/webhook-payload.ts'
import { attemptDelivery, saveAttempts } from '../../shared/webhooks/attempt.ts'
import { recordOutcome } from '../../shared/webhooks/health.ts'
import { take, useQueues } from '../settlement/messages-sent.ts'
import { inSeconds, NOON, pendingDebit, providerId, still, webhook } from '../support/examples.ts'
import { aroundTableCalls } from '../support/table-calls.ts'
import { useFreshTable } from '../support/tables.ts'

/** A recovery that an operator requested, page by page (docs/api.md#recovery). */

useQueues()
beforeEach(useFreshTable)

const provider = providerId('recovering')
const recovery = requestedRecovery({
  ...{ provider, id: 'asked-1', now: inSeconds(0), since: inSeconds(-3_600) },
})

/** Stores an event whose attempts have failed, the last one at a second. */
const abandoned = async (lastAt: number) => {
  const { reference } = pendingDebit({ provider }, inSeconds(-1_800)).facts
  const event = { reference, n: 0, provider, type: 'created' as const, at: inSeconds(-1_800) }
  const at = inSeconds(lastAt)
  const timing = { id: 'dlv_1', at, milliseconds: 5, address: '127.0.0.1', sentAs: 'x' }
  const response = { kind: 'answered', code: 500, body: '' } as const
  const failed = recordAttempt(newDelivery(event, {}), response, timing, 0)
  await replaceDelivery(undefined, abandon(failed, 4001, at))
  return async () => (await listDeliveries(reference))[0]
}

const runPage = (page: number, seconds: number) =>
  take(recoverDeliveries(still({ now: () => inSeconds(seconds) })), 'recoveries', {
    ...{ provider, id: recovery.id, page },
  })

test('an event that was attempted after the request is not attempted again', async () => {
  const [before, after] = [await abandoned(-60), await abandoned(5)]
  await openRecovery(recovery)
  await runPage(0, 10)
  expect(await before()).toMatchObject({ status: 'pending', nextAttemptAt: inSeconds(10) })
  expect(await after()).toMatchObject({ nextAttemptAt: null })
  expect(await findRecovery(provider, recovery.id)).toMatchObject({ status: 'done', count: 1 })
})

test('a repeated message of a page that is done leaves the next page to its own message', async () => {
  await Promise.all(Array.from({ length: RECOVERY_PAGE + 1 }, () => abandoned(-60)))
  await openRecovery(recovery)
  await runPage(0, 10)
  const next = { status: 'running', page: 1, count: RECOVERY_PAGE }
  expect(await findRecovery(provider, recovery.id)).toMatchObject(next)
  await runPage(0, 11)
  expect(await findRecovery(provider, recovery.id)).toMatchObject(next)
  await runPage(1, 20)
  const ended = { status: 'done', page: 2, count: RECOVERY_PAGE + 1 }
  expect(await findRecovery(provider, recovery.id)).toMatchObject(ended)
})

test('a page with an event of another worker is not the last one', async () => {
  for (const lastAt of [5, 5, ...Array(RECOVERY_PAGE - 1).fill(-60)]) await abandoned(lastAt)
  await openRecovery(recovery)
  await runPage(0, 10)
  expect(await findRecovery(provider, recovery.id)).toMatchObject({ status: 'running', page: 1 })
})

test('an event that is abandoned after its webhook has recovered is noted', async () => {
  const { facts } = pendingDebit({ provider })
  const event = { ...facts, n: 0, type: 'created' as const, at: NOON }
  const record = newDelivery(event, { attemptsMax: 1 })
  const health = { failingSince: inSeconds(-60), exhaustedSince: inSeconds(-60) }
  const attempt = {
    ...{ previous: undefined, record, random: 0, isUncounted: false },
    outcome: { kind: 'answered', code: 500, body: '' } as const,
    timing: { id: 'dlv_1', at: NOON, milliseconds: 5, address: '127.0.0.1', sentAs: 'x' },
    observed: { provider, health, isSlow: false, succeeded: false, isGone: false },
  }
  expect(await findHealth(provider)).toEqual({})
  await saveAttempts([attempt], still())
  expect(await findHealth(provider)).toMatchObject({ exhaustedSince: NOON })
})

test.each([
  ['', 1],
  [' whose reply is lost', 2],
])(
  'an event of a disabled webhook that recovers before the record%s is recovered after the next success',
  async (_, calls) => {
    const event = debitEvent(pendingDebit({ provider }), 0)
    const health = { exhaustedSince: inSeconds(-60), disabledAt: inSeconds(-60) }
    const success = { isSlow: false, succeeded: true, isGone: false, abandoned: false }
    const succeed = async () =>
      recordOutcome({ provider, health: await findHealth(provider), ...success }, still())
    await changeHealth(provider, () => health)
    let hasRecovered = false
    const restore = aroundTableCalls(async (name, call) => {
      if (name !== 'Put' || hasRecovered) return call()
      hasRecovered = true
      await succeed()
      if (calls > 1) await call()
      return call()
    })
    const request = { event, previous: undefined, number: 1, skipsSlowReceivers: true }
    await attemptDelivery({ ...request, webhook, health }, still()).finally(restore)
    expect([hasRecovered, await findHealth(provider)]).toEqual([
      true,
      { recoveredAt: NOON, exhaustedSince: NOON },
    ])
    await succeed()
    const message = { provider, id: `automatic-${NOON.getTime()}`, page: 0 }
    await take(recoverDeliveries(still({ now: () => inSeconds(60) })), 'recoveries', message)
    const [delivery] = await listDeliveries(event.reference)
    expect(delivery).toMatchObject({ status: 'pending', nextAttemptAt: inSeconds(60) })
  },
)

test('an abandoned event is noted for the recovery of a webhook that has recovered during its last attempt', async () => {
  const health = { failingSince: inSeconds(-60), exhaustedSince: inSeconds(-60) }
  const failed = { provider, health, isSlow: false, succeeded: false, isGone: false }
  await recordOutcome({ ...failed, abandoned: true }, still())
  expect(await findHealth(provider)).toMatchObject({ exhaustedSince: NOON })
})
