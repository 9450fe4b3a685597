import type { PaidProvider, Payee, Provider, ProviderId } from '../../domain/providers/provider.ts'
import type { Refusal } from '../../domain/refusal.ts'
import type { Runtime } from '../../runtime.ts'
import { ttlCache } from '../cache.ts'
import { keys } from '../keys.ts'
import { changeSettings, settingsIn } from '../settings.ts'
import * as db from '../table.ts'

export const findProvider = (id: ProviderId) => db.find(keys.provider(id), settingsIn<Provider>)

const payeeIn = ({ settlementAccount, payoutsHeldUntil }: Partial<Payee> = {}): Payee => ({
  settlementAccount,
  payoutsHeldUntil,
})

export const findPayee = async (id: ProviderId): Promise<Payee> =>
  payeeIn(await db.read<Payee>(keys.payee(id)))

const paid = async (provider: Provider): Promise<PaidProvider> => ({
  ...provider,
  ...(await findPayee(provider.id)),
})

export const findPaidProvider = (id: ProviderId) =>
  db.find(keys.provider(id), (item) => paid(settingsIn<Provider>(item)))

/** Lists the ids of all providers, sorted. The index may lag. */
export const listProviders = async (): Promise<ProviderId[]> => {
  const entries = await db.queryAll(db.statusQuery(keys.providers))
  return entries.map(({ byTime }) => byTime as ProviderId)
}

export const loadProviders = async (): Promise<Provider[]> => {
  const items = await db.readMany((await listProviders()).map(keys.provider))
  return items.map(settingsIn<Provider>)
}

export const loadPaidProviders = async (): Promise<PaidProvider[]> => {
  const providers = await loadProviders()
  const items = await db.readMany(providers.map(({ id }) => keys.payee(id)))
  const payees = new Map(items.map((item) => [item.pk, item]))
  return providers.map((one) => ({ ...one, ...payeeIn(payees.get(keys.payee(one.id).pk)) }))
}

const names = ttlCache<string>(10_000)

/** Returns the names of providers, cached by a warm function. */
export const providerNames = async (ids: ReadonlySet<ProviderId>, now: Date) => {
  const entries = await Promise.all(
    [...ids].map(async (id) => {
      const name = await names(id, now, async () => (await findProvider(id))?.name)
      return [id, name ?? id] as const
    }),
  )
  return new Map(entries)
}

const toItem = (provider: Provider) => ({
  ...provider,
  byStatus: keys.providers,
  byTime: provider.id,
})

export const changeProvider = (
  id: ProviderId,
  change: (previous: Provider | undefined) => Provider | Refusal | Promise<Provider | Refusal>,
  alongside: (previous: Provider | undefined, next: Provider) => readonly db.Write[],
  runtime: Runtime,
): Promise<Provider | Refusal> => {
  const form = { entity: 'provider', from: settingsIn<Provider>, to: toItem }
  return changeSettings(keys.provider(id), form, change, alongside, runtime)
}

/** Does the same with the payee, which each of these changes writes under the provider's revision. */
export const changePaidProvider = (
  id: ProviderId,
  change: (
    previous: PaidProvider | undefined,
  ) => PaidProvider | Refusal | Promise<PaidProvider | Refusal>,
  alongside: (previous: PaidProvider | undefined, next: PaidProvider) => readonly db.Write[],
  runtime: Runtime,
): Promise<PaidProvider | Refusal> => {
  const form = {
    entity: 'provider',
    from: (item: db.Item) => paid(settingsIn<Provider>(item)),
    to: ({ settlementAccount, payoutsHeldUntil, ...provider }: PaidProvider) => toItem(provider),
  }
  const withPayee: typeof alongside = (previous, next) => [
    db.putWrite({ ...keys.payee(id), entity: 'payee', ...payeeIn(next) }),
    ...alongside(previous, next),
  ]
  return changeSettings(keys.provider(id), form, change, withPayee, runtime)
}
