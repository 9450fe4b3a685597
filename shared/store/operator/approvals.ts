import {
  type Approval,
  type ApprovalDecision,
  type ApprovalId,
  firstIdAt,
} from '../../domain/operator/approval.ts'
import { DAY_SECONDS, secondsAfter } from '../../domain/time.ts'
import type { Jitter, Runtime } from '../../runtime.ts'
import type { KeySpan } from '../key-span.ts'
import { keys } from '../keys.ts'
import { type SecretOwner, seal, unseal } from '../sealing.ts'
import { putWith } from '../settings.ts'
import { fromStored, toStored } from '../stored.ts'
import * as db from '../table.ts'
import { transact } from '../transactions.ts'

/** Requests for approval and their decisions (docs/api.md#approvals). The items never expire. */

const TIMES = { requestedAt: true, expiresAt: true, decidedAt: true, doneAt: true } as const

const fromItem = (item: db.Item): Approval => {
  const { claim, claimedUntil, ...approval } = db.withoutKeys<db.Item>(item)
  return fromStored<Approval>(approval, TIMES)
}

const ownerOf = (id: ApprovalId): SecretOwner => ({ kind: 'approval', id })

export const sealSecrets = (
  id: ApprovalId,
  secrets: Record<string, string>,
  runtime: Pick<Runtime, 'randomBytes'>,
): Promise<string> => seal(JSON.stringify(secrets), ownerOf(id), runtime)

/** Returns the personal options of requests as typed, by the id of the request. */
export const loadPlainOptions = async (approvals: readonly Approval[]) => {
  const ids = approvals.flatMap(({ id, customer }) => (customer === undefined ? [] : [id]))
  const items = await db.readMany(ids.map(keys.plainOptions))
  return new Map(items.map(({ id, options }) => [id, options as Record<string, string>]))
}

/** Removes the plain options of a request that can no longer run. */
export const removePlainOptions = (id: ApprovalId): Promise<boolean> =>
  db.remove(keys.plainOptions(id))

/** Returns the write that removes the plain options of a request, if it has some. */
export const plainRemoval = ({ id, customer }: Pick<Approval, 'id' | 'customer'>): db.Write[] =>
  customer === undefined
    ? []
    : [{ Delete: { TableName: db.tableName(), Key: keys.plainOptions(id) } }]

/** @returns undefined if the secrets cannot be opened */
export const openOptions = async (approval: Approval) => {
  const { id, options, secrets } = approval
  const plain = { ...options, ...(await loadPlainOptions([approval])).get(id) }
  if (!secrets) return plain
  const opened = await unseal(secrets, ownerOf(id))
  return opened === undefined ? undefined : { ...plain, ...JSON.parse(opened) }
}

/** @param plain personal options; a request that expires leaves them to the time to live */
export const putApproval = async (
  approval: Approval,
  plain: Record<string, string>,
  alongside: readonly db.Write[],
  runtime: Jitter,
): Promise<void> => {
  const item = { ...keys.approval(approval.id), entity: 'approval', ...toStored(approval) }
  const { Put } = db.putWrite(item, db.isNew)
  const { id, expiresAt } = approval
  const key = { ...keys.plainOptions(id), entity: 'plain-options', id }
  const plainItem = { ...key, options: plain, expiresAt: db.expiresAt(expiresAt, 0) }
  const others = [...alongside, ...(approval.customer ? [db.putWrite(plainItem)] : [])]
  if (!(await putWith(Put, others, runtime))) {
    throw new Error(`Two requests for approval have the id ${id}`)
  }
}

export const findApproval = (id: ApprovalId) => db.find(keys.approval(id), fromItem)

const PAGE_SIZE = 100

/** Lists requests, newest first, strongly consistent; by default all. */
export async function* approvalPages(span?: KeySpan): AsyncGenerator<Approval[]> {
  const query = span ? db.timesQuery(keys.approvals.pk, span) : db.collectionQuery(keys.approvals)
  const pages = db.queryPages({ ...query, ScanIndexForward: false, Limit: PAGE_SIZE })
  for await (const page of pages) yield page.map(fromItem)
}

/** Lists the requests of a span of time and of some days before it, oldest first, strongly consistent. */
export async function* requestsWithin(
  { from, before }: db.Span,
  daysBefore: number,
): AsyncGenerator<Approval> {
  const pages = db.queryPages(
    db.itemsQuery(keys.approvals.pk, 'sk BETWEEN :from AND :before', {
      ':from': firstIdAt(secondsAfter(from, -daysBefore * DAY_SECONDS)),
      ':before': firstIdAt(before),
    }),
  )
  for await (const page of pages) yield* page.map(fromItem)
}

type Decision = { decision: ApprovalDecision; by: string; at: Date; reason?: string | undefined }

/** @returns false when the request is decided or expired */
export const decideApproval = (
  id: ApprovalId,
  { decision, by, at, reason }: Decision,
  alongside: readonly db.Write[],
  runtime: Jitter,
): Promise<boolean> => {
  const decided = db.updateWrite(keys.approval(id), {
    UpdateExpression: `SET decision = :decision, decidedBy = :by, decidedAt = :at${
      reason === undefined ? '' : ', reason = :reason'
    }`,
    ConditionExpression: 'decision = :pending AND expiresAt > :at',
    ExpressionAttributeValues: {
      ':decision': decision,
      ':pending': 'pending',
      ':by': by,
      ':at': at.toISOString(),
      ...(reason !== undefined && { ':reason': reason }),
    },
  })
  return transact([decided, ...alongside], runtime)
}

/** An earlier version marked a call that it had made by `hasEffect`, and ended it later. */
const IS_OPEN = 'attribute_not_exists(doneAt) AND attribute_not_exists(hasEffect)'

/** The right of one worker to carry out a granted call, until a time. */
type CallClaim = { id: ApprovalId; claim: string; at: Date; until: Date }

/** @returns false when another worker has the claim, or the call is carried out or expired */
export const claimApproval = ({ id, claim, at, until }: CallClaim): Promise<boolean> => {
  const expression = {
    UpdateExpression: 'SET claim = :claim, claimedUntil = :until',
    ConditionExpression:
      `decision = :granted AND expiresAt > :at AND ${IS_OPEN} AND ` +
      '(attribute_not_exists(claim) OR claim = :claim OR claimedUntil <= :at)',
    ExpressionAttributeValues: {
      ':granted': 'granted',
      ':claim': claim,
      ':at': at.toISOString(),
      ':until': until.toISOString(),
    },
  }
  return db.updateIf(keys.approval(id), expression)
}

/** Releases a claim, so that the grant can be repeated immediately. */
export const releaseApproval = ({ id, claim }: CallClaim): Promise<boolean> => {
  const expression = {
    UpdateExpression: 'REMOVE claim, claimedUntil',
    ConditionExpression: 'claim = :claim',
    ExpressionAttributeValues: { ':claim': claim },
  }
  return db.updateIf(keys.approval(id), expression)
}

type CallEnd = { doneAt: Date; refusal?: string | undefined }

/**
 * Returns the writes that end a granted call once, and remove its plain options. The transaction of its
 * effect contains them, so that the request shows the effect although its worker fails.
 */
export const endWrites = (
  approval: Pick<Approval, 'id' | 'customer'>,
  { doneAt, refusal }: CallEnd,
): db.Write[] => {
  const ended = db.updateWrite(keys.approval(approval.id), {
    UpdateExpression: `SET doneAt = :at${
      refusal === undefined ? '' : ', refusal = :refusal'
    } REMOVE claim, claimedUntil`,
    ConditionExpression: `attribute_exists(pk) AND ${IS_OPEN}`,
    ExpressionAttributeValues: {
      ':at': doneAt.toISOString(),
      ...(refusal !== undefined && { ':refusal': refusal }),
    },
  })
  return [ended, ...plainRemoval(approval)]
}

/** Ends a granted call without an effect. Returns false when the call has ended. */
export const finishApproval = (
  approval: Pick<Approval, 'id' | 'customer'>,
  end: CallEnd,
  runtime: Jitter,
): Promise<boolean> => transact(endWrites(approval, end), runtime)
