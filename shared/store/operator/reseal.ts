import { type Approval, canRun } from '../../domain/operator/approval.ts'
import type { Runtime } from '../../runtime.ts'
import { listBanks } from '../banks/banks.ts'
import { mapConcurrent } from '../concurrent.ts'
import { type Key, keys } from '../keys.ts'
import { optimistically } from '../optimistic.ts'
import { listProviders } from '../providers/providers.ts'
import { type SealedKind, type SecretOwner, seal, unseal } from '../sealing.ts'
import * as db from '../table.ts'
import { approvalPages } from './approvals.ts'

/** Seals every secret again with the current key (docs/operations.md#rotate-the-sealing-key). */

const CONCURRENCY = 8

type SealedPlace = {
  /** The ids of the owners that can have secrets. */
  ids: (now: Date) => Promise<readonly string[]>
  key: (id: never) => Key
  /** The attributes with sealed texts. */
  attributes: readonly string[]
  /** Whether other writers compare the revision of the item, and must lose a race with this write. */
  hasRevision: boolean
}

/** Lists the requests that can still run. */
const openApprovals = async (now: Date): Promise<Approval['id'][]> => {
  const open: Approval[] = []
  for await (const page of approvalPages()) {
    open.push(...page.filter((one) => canRun(one, now)))
    // Ids sort by time, and all requests live equally long.
    if (page.some(({ expiresAt }) => expiresAt <= now)) break
  }
  return open.map(({ id }) => id)
}

const places: Record<SealedKind, SealedPlace> = {
  webhook: {
    ids: listProviders,
    key: keys.webhook,
    attributes: ['secret', 'previous'],
    hasRevision: true,
  },
  requestSigning: {
    ids: listProviders,
    key: keys.provider,
    attributes: ['requestSigning'],
    hasRevision: true,
  },
  connector: {
    ids: async () => (await listBanks()).map(({ identifier }) => identifier),
    key: keys.connector,
    attributes: ['secret'],
    hasRevision: false,
  },
  approval: { ids: openApprovals, key: keys.approval, attributes: ['secrets'], hasRevision: false },
  customerHash: {
    ids: async () => ['customers'],
    key: () => keys.hashKey,
    attributes: ['secret'],
    hasRevision: false,
  },
}

/** A text, or a secret with the previous one, which is accepted until its time. */
type Sealed = string | { secret: string; until?: string; previous?: Sealed }

/** Returns the value with each text sealed again; undefined for a previous secret that is over. */
const resealed = async (
  value: Sealed,
  again: (text: string) => Promise<string>,
  now: Date,
): Promise<Sealed | undefined> => {
  if (typeof value === 'string') return again(value)
  const { secret, previous, ...rest } = value
  if (rest.until && new Date(rest.until) <= now) return undefined
  const earlier = previous && (await resealed(previous, again, now))
  return { ...rest, secret: await again(secret), ...(earlier && { previous: earlier }) }
}

type OnUnreadable = (owner: SecretOwner) => void

type Counts = { resealed: number; unreadable: number }

/** Seals the secrets of one item again. An unreadable one stays, because its key may return. */
const resealItem = (
  owner: SecretOwner,
  onUnreadable: OnUnreadable,
  runtime: Runtime,
): Promise<Counts> => {
  const { key, attributes, hasRevision } = places[owner.kind]
  const { pk, sk } = key(owner.id as never)
  return optimistically(`${pk} ${sk}`, async () => {
    const item = await db.read<Record<string, Sealed>>({ pk, sk })
    const counts: Counts = { resealed: 0, unreadable: 0 }
    const again = async (text: string): Promise<string> => {
      const secret = await unseal(text, owner)
      counts[secret === undefined ? 'unreadable' : 'resealed'] += 1
      if (secret !== undefined) return seal(secret, owner, runtime)
      onUnreadable(owner)
      return text
    }
    const members = await Promise.all(
      attributes.flatMap((name) => {
        const value = item?.[name]
        if (value === undefined) return []
        return [resealed(value, again, runtime.now()).then((next) => ({ name, value, next }))]
      }),
    )
    if (counts.resealed === 0) return counts
    const revision = hasRevision ? [{ name: 'revision', next: runtime.newId() }] : []
    return (await db.updateIf({ pk, sk }, replacement([...members, ...revision])))
      ? counts
      : undefined
  })
}

type Member = { name: string; value?: Sealed; next: Sealed | undefined }

/** Replaces members that nobody else has changed. Each sealed text is unique. */
const replacement = (members: readonly Member[]) => {
  const [set, gone] = [true, false].map((isSet) =>
    members.filter(({ next }) => (next !== undefined) === isSet),
  ) as [Member[], Member[]]
  const read = members.filter(({ value }) => value !== undefined)
  const values = [
    ...set.map(({ name, next }) => [`:next_${name}`, next]),
    ...read.map(({ name, value }) => [`:${name}`, value]),
  ]
  return {
    UpdateExpression: [
      `SET ${set.map(({ name }) => `#${name} = :next_${name}`).join(', ')}`,
      ...(gone.length > 0 ? [`REMOVE ${gone.map(({ name }) => `#${name}`).join(', ')}`] : []),
    ].join(' '),
    ConditionExpression: read.map(({ name }) => `#${name} = :${name}`).join(' AND '),
    ExpressionAttributeNames: Object.fromEntries(members.map(({ name }) => [`#${name}`, name])),
    ExpressionAttributeValues: Object.fromEntries(values),
  }
}

/** Seals all secrets again and counts them. */
export const resealAll = async (onUnreadable: OnUnreadable, runtime: Runtime): Promise<Counts> => {
  const owners: SecretOwner[] = []
  for (const [kind, { ids }] of Object.entries(places) as [SealedKind, SealedPlace][]) {
    for (const id of await ids(runtime.now())) owners.push({ kind, id })
  }
  const counts = await mapConcurrent(owners, CONCURRENCY, (owner) =>
    resealItem(owner, onUnreadable, runtime),
  )
  return {
    resealed: counts.reduce((sum, { resealed }) => sum + resealed, 0),
    unreadable: counts.reduce((sum, { unreadable }) => sum + unreadable, 0),
  }
}
