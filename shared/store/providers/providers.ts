import type { Partner, PartnerId } from '../../domain/providers/provider.ts'
import type { Refusal } from '../../domain/refusal.ts'
import { environment } from '../../runtime.ts'
import { remembered } from '../cache.ts'
import { keys } from '../keys.ts'
import { changeSettings, settingsIn } from '../settings.ts'
import { queryAll, read, readMany, type Write } from '../table.ts'

export const findPartner = async (id: PartnerId): Promise<Partner | undefined> => {
  const item = await read<Record<string, unknown>>(keys.partner(id))
  return item && fromItem(item)
}

const fromItem = (item: Record<string, unknown>): Partner => {
  const { byStatus, byTime, ...partner } = settingsIn<Partner & Listed>(item)
  return partner
}

type Listed = { byStatus: string; byTime: string }

/** Every partner, by id; a new one a little late. */
export const listPartners = async (): Promise<PartnerId[]> => {
  const found = await queryAll({
    IndexName: 'by-status',
    KeyConditionExpression: 'byStatus = :partners',
    ExpressionAttributeValues: { ':partners': keys.partners },
  })
  return found.map(({ byTime }) => byTime as PartnerId)
}

/** Every partner with its settings, by id. */
export const loadPartners = async (): Promise<Partner[]> => {
  const items = await readMany((await listPartners()).map(keys.partner))
  return items.map(fromItem).sort((one, other) => (one.id < other.id ? -1 : 1))
}

const names = remembered<string>({ entriesMax: 10_000 })

/** What partners are called, remembered by a warm function. */
export const partnerNames = async (
  ids: ReadonlySet<PartnerId>,
  now: Date,
): Promise<ReadonlyMap<PartnerId, string>> => {
  const when = { now, seconds: environment.cacheSeconds }
  const known = await Promise.all(
    [...ids].map(async (id) => {
      const name = await names.get(id, when, async () => (await findPartner(id))?.name)
      return [id, name ?? id] as const
    }),
  )
  return new Map(known)
}

const toItem = (partner: Partner): Partner & Listed => ({
  ...partner,
  byStatus: keys.partners,
  byTime: partner.id,
})

/** Writes what `change` makes of a partner as it stands: see {@link changeSettings}. */
export const changePartner = (
  id: PartnerId,
  change: (before: Partner | undefined) => Partner | Refusal | Promise<Partner | Refusal>,
  alongside?: (before: Partner | undefined, after: Partner) => readonly Write[],
): Promise<Partner | Refusal> =>
  changeSettings(
    keys.partner(id),
    { entity: 'partner', from: fromItem, to: toItem },
    change,
    alongside,
  )
