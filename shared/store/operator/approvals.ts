import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import type { Approval, ApprovalId } from '../../domain/operator/approval.ts'
import { real } from '../../runtime.ts'
import { keys } from '../keys.ts'
import { seal, unseal } from '../sealing.ts'
import { putWith } from '../settings.ts'
import {
  conditionMet,
  queryPages,
  read,
  table,
  tableName,
  type Write,
  withoutKeys,
} from '../table.ts'
import { transact, withConflictRetries } from '../transactions.ts'

/** Requests for approval and their decisions. They never expire from the table. */

const times = ['requestedAt', 'expiresAt', 'decidedAt', 'doneAt'] as const

const toItem = (approval: Approval): Record<string, unknown> => {
  const written = times.map((name) => [name, approval[name]?.toISOString()])
  return { ...approval, ...Object.fromEntries(written) }
}

const fromItem = (item: Record<string, unknown>): Approval => {
  const { claim, claimedUntil, ...approval } = withoutKeys<Record<string, unknown>>(item)
  const known = times.filter((name) => approval[name] !== undefined)
  const parsed = known.map((name) => [name, new Date(String(approval[name]))])
  return { ...approval, ...Object.fromEntries(parsed) } as Approval
}

/** An item of this form is sealed for no other approval. */
const ownerOf = (id: ApprovalId): string => `APPROVAL#${id}`

export const sealSecrets = (id: ApprovalId, secrets: Record<string, string>): Promise<string> =>
  seal(JSON.stringify(secrets), ownerOf(id))

/** Returns the options of a request with its secrets. */
export const openOptions = async ({
  id,
  options,
  secrets,
}: Approval): Promise<Record<string, string>> =>
  secrets ? { ...options, ...JSON.parse(await unseal(secrets, ownerOf(id))) } : options

/** @param alongside writes in the same transaction, such as the record of the request */
export const putApproval = async (
  approval: Approval,
  alongside: readonly Write[],
): Promise<void> => {
  const Item = { ...keys.approval(approval.id), entity: 'approval', ...toItem(approval) }
  const put = { TableName: tableName(), Item, ConditionExpression: 'attribute_not_exists(pk)' }
  if (!(await withConflictRetries(real, () => putWith(put, alongside)))) {
    throw new Error(`Two requests for approval have the id ${approval.id}`)
  }
}

export const findApproval = async (id: ApprovalId): Promise<Approval | undefined> => {
  const item = await read<Record<string, unknown>>(keys.approval(id))
  return item && fromItem(item)
}

const PAGE_SIZE = 100

/** All requests, newest first, page by page; strongly consistent. */
export async function* approvalPages(): AsyncGenerator<Approval[]> {
  const pages = queryPages({
    KeyConditionExpression: 'pk = :approvals',
    ExpressionAttributeValues: { ':approvals': keys.approvals },
    ConsistentRead: true,
    ScanIndexForward: false,
    Limit: PAGE_SIZE,
  })
  for await (const page of pages) yield page.map(fromItem)
}

type Decision = {
  decision: Exclude<Approval['decision'], 'pending'>
  by: string
  at: Date
  reason?: string | undefined
}

/**
 * Grants or denies a pending request before it expires.
 * @param alongside writes in the same transaction, such as the record of the decision
 * @returns false if the request is decided or expired
 */
export const decideApproval = (
  id: ApprovalId,
  { decision, by, at, reason }: Decision,
  alongside: readonly Write[],
): Promise<boolean> => {
  const Update = {
    TableName: tableName(),
    Key: keys.approval(id),
    UpdateExpression: `SET decision = :decision, decidedBy = :by, decidedAt = :at${
      reason === undefined ? '' : ', reason = :reason'
    }`,
    ConditionExpression: 'decision = :pending AND expiresAt > :at',
    ExpressionAttributeValues: {
      ':decision': decision,
      ':pending': 'pending',
      ':by': by,
      ':at': at.toISOString(),
      ...(reason === undefined ? {} : { ':reason': reason }),
    },
  }
  const TransactItems = [{ Update }, ...alongside]
  return transact(TransactItems, real)
}

/** The right of one worker to carry out a granted call, until a time. */
export type Claim = { id: ApprovalId; claim: string; at: Date; until: Date }

const update = (id: ApprovalId, expression: object): Promise<boolean> =>
  withConflictRetries(real, () =>
    conditionMet(
      table.send(
        new UpdateCommand({ TableName: tableName(), Key: keys.approval(id), ...expression }),
      ),
    ),
  )

/**
 * Claims a granted call for one worker, so that two never carry it out at the same time.
 * @returns false if another worker has the claim, or the call is carried out or expired
 */
export const claimApproval = ({ id, claim, at, until }: Claim): Promise<boolean> =>
  update(id, {
    UpdateExpression: 'SET claim = :claim, claimedUntil = :until',
    ConditionExpression:
      'decision = :granted AND expiresAt > :at AND attribute_not_exists(doneAt) AND ' +
      '(attribute_not_exists(claim) OR claim = :claim OR claimedUntil <= :at)',
    ExpressionAttributeValues: {
      ':granted': 'granted',
      ':claim': claim,
      ':at': at.toISOString(),
      ':until': until.toISOString(),
    },
  })

/** Gives a claim back, so that the grant can be repeated at once. */
export const releaseApproval = ({ id, claim }: Claim): Promise<boolean> =>
  update(id, {
    UpdateExpression: 'REMOVE claim, claimedUntil',
    ConditionExpression: 'claim = :claim',
    ExpressionAttributeValues: { ':claim': claim },
  })

/** Records that the call was carried out, or that it was refused and why. */
export const finishApproval = (
  { id }: Claim,
  { doneAt, refusal }: { doneAt: Date; refusal?: string | undefined },
): Promise<boolean> =>
  update(id, {
    UpdateExpression: `SET doneAt = :at${
      refusal === undefined ? '' : ', refusal = :refusal'
    } REMOVE claim, claimedUntil`,
    ConditionExpression: 'attribute_exists(pk)',
    ExpressionAttributeValues: {
      ':at': doneAt.toISOString(),
      ...(refusal === undefined ? {} : { ':refusal': refusal }),
    },
  })
