import { beforeEach, expect, test } from 'vitest'
import { manageApproval } from '../../functions/operator/manage-approval.ts'
import { type Approval, approvalId, expiryOf } from '../../shared/domain/operator/approval.ts'
import { putApproval } from '../../shared/store/operator/approvals.ts'
import { inSeconds, NOON, still } from '../support/examples.ts'
import type { Shown } from '../support/running-service.ts'
import { aroundTableCalls } from '../support/table-calls.ts'
import { useFreshTable } from '../support/tables.ts'

/** Lists of operators that years have made long. */

beforeEach(useFreshTable)

const DAY_SECONDS = 86_400

/** Returns the result of some work, and how many items its calls of the table returned. */
const counted = async <T>(work: () => Promise<T>) => {
  let items = 0
  const restore = aroundTableCalls(async (_, next) => {
    const reply = (await next()) as { Items?: unknown[]; Responses?: Record<string, unknown[]> }
    items += (reply.Items ?? Object.values(reply.Responses ?? {}).flat()).length
    return reply
  })
  return { reply: (await work().finally(restore)) as Shown, items }
}

const storeRequest = async (seconds: number, n: number): Promise<string> => {
  const requestedAt = inSeconds(seconds)
  const request: Approval = {
    id: approvalId(requestedAt, String(n).padStart(8, '0')),
    ...{ noun: 'debit', verb: 'reverse', target: 'D', options: {}, decision: 'pending' },
    ...{ requestedBy: 'local:ama', requestedAt, expiresAt: expiryOf(requestedAt) },
  }
  await putApproval(request, {}, [], still())
  return request.id
}

test('the requests that wait are listed without a read of those that have expired', async () => {
  for (let day = 2; day <= 300; day += 1) await storeRequest(-day * DAY_SECONDS, day)
  await storeRequest(-DAY_SECONDS, 1)
  const ids = [await storeRequest(0, 0), await storeRequest(1 - DAY_SECONDS, 1)]
  const list = (options: Record<string, string>) =>
    counted(() => manageApproval(still())({ verb: 'list', options, actor: 'local:ama' } as never))
  const { reply, items } = await list({ status: 'pending' })
  expect(reply.result.map(({ id }: Shown) => id)).toEqual(ids)
  expect(items).toBeLessThan(5)
  const today = NOON.toISOString().slice(0, 10)
  const days = await list({ status: 'pending', from: today, to: today })
  expect(days.reply.result.map(({ id }: Shown) => id)).toEqual(ids.slice(0, 1))
  const earlier = await list({ status: 'pending', to: '2026-01-31' })
  expect(earlier.reply.result).toEqual([])
})
