import type * as v from 'valibot'
import { type Operation, type OperationName, operations } from '../../shared/api/operations.ts'
import { effectiveLimit } from '../../shared/api/rate-guard.ts'
import type { Bank, BankIdentifier } from '../../shared/domain/banks/bank.ts'
import { defined } from '../../shared/domain/complete.ts'
import { formatAmount } from '../../shared/domain/money.ts'
import { callObject } from '../../shared/domain/operator/approval.ts'
import {
  dailyLimitAfter,
  type Provider,
  type ProviderId,
} from '../../shared/domain/providers/provider.ts'
import { unlessRefused } from '../../shared/domain/refusal.ts'
import { type RequestLimits, withRequestLimit } from '../../shared/domain/request-limits.ts'
import { dayOf } from '../../shared/domain/time.ts'
import { type Author, noSuch, operatorHandler } from '../../shared/operator/handler.ts'
import { limit, operationsOf } from '../../shared/operator/nouns/providers.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { changeBank, findBank, listBanks } from '../../shared/store/banks/banks.ts'
import { findDayTotal } from '../../shared/store/debits/charges.ts'
import { changeRecorder } from '../../shared/store/operator/changes.ts'
import {
  changeProvider,
  findProvider,
  loadProviders,
} from '../../shared/store/providers/providers.ts'
import { bankLimitView, providerLimitView, usageView } from '../../shared/views/operator/limit.ts'

type SetOptions = v.InferOutput<typeof limit.verbs.set.options>
type OwnerOptions = Pick<SetOptions, 'provider' | 'bank'>
type OwnerKind = 'provider' | 'bank'

const perMinute = (name: OperationName, overrides: RequestLimits) => {
  const { per }: Operation['limit'] = operations[name].limit
  const { perMinute: own, total } = effectiveLimit(name, overrides)
  const scope = per === 'caller' ? 'provider' : per
  return { [`per_${scope}`]: own, ...defined({ per_provider: total }) }
}

const effectiveLimits = (kind: OwnerKind, overrides: RequestLimits = {}) =>
  Object.fromEntries(operationsOf(kind).map((name) => [name, perMinute(name, overrides)]))

const providerView = (provider: Provider) =>
  providerLimitView(provider, effectiveLimits('provider', provider.requestLimits))

const bankView = (bank: Bank) => bankLimitView(bank, effectiveLimits('bank', bank.requestLimits))

/** Reads the amount used today, if it is limited. */
const usage = async ({ id, dailyLimit }: Provider, now: Date) => {
  const day = dayOf(now)
  const total = dailyLimit === undefined ? undefined : await findDayTotal(id, day)
  return usageView(day, dailyLimit, total ?? 0)
}

const withOverride = <T extends Bank | Provider>(
  owner: T,
  { operation, 'per-minute': count }: Pick<SetOptions, 'operation' | 'per-minute'>,
) =>
  operation === undefined || count === undefined ? owner : withRequestLimit(owner, operation, count)

const fields = (owner: Provider | Bank) => ({
  ...owner.requestLimits,
  ...('dailyLimit' in owner &&
    owner.dailyLimit !== undefined && { daily_limit: formatAmount(owner.dailyLimit) }),
})

const setProvider = async (
  id: ProviderId,
  options: Omit<SetOptions, 'provider'>,
  author: Author,
  runtime: Runtime,
) => {
  const { 'daily-limit': dailyLimit } = options
  const provider = await changeProvider(
    id,
    (previous) => {
      if (!previous) return noSuch('provider')
      if (dailyLimit === undefined) return withOverride(previous, options)
      const limits = dailyLimitAfter(previous, dailyLimit ?? undefined, dayOf(runtime.now()))
      return withOverride(defined({ ...previous, ...limits }), options)
    },
    changeRecorder({ ...author, target: id, provider: id }, fields),
    runtime,
  )
  return unlessRefused(provider, providerView)
}

const setBank = async (
  identifier: BankIdentifier,
  options: SetOptions,
  author: Author,
  runtime: Runtime,
) => {
  const bank = await changeBank(
    identifier,
    (previous) => (previous ? withOverride(previous, options) : noSuch('bank')),
    changeRecorder({ ...author, target: identifier, bank: identifier }, fields),
    runtime,
  )
  return unlessRefused(bank, bankView)
}

const show = async ({ provider: id, bank: identifier }: OwnerOptions, now: Date) => {
  if (id) {
    const provider = await findProvider(id)
    return provider
      ? { ...providerView(provider), ...(await usage(provider, now)) }
      : noSuch('provider')
  }
  const bank = identifier && (await findBank(identifier))
  return bank ? bankView(bank) : noSuch('bank')
}

const checkOwner = async (owner: OwnerOptions, { at }: Author) =>
  unlessRefused(await show(owner, at), () => callObject(owner))

export const manageLimit = operatorHandler(limit, {
  set: {
    run: async (options, author, runtime) => {
      if (options.provider) return setProvider(options.provider, options, author, runtime)
      return options.bank ? setBank(options.bank, options, author, runtime) : noSuch('bank')
    },
    check: checkOwner,
  },
  show: async (owner, { at }) => show(owner, at),
  list: async () => [
    ...(await loadProviders()).map(providerView),
    ...(await listBanks()).map(bankView),
  ],
  remove: {
    run: ({ provider }, author, runtime) =>
      setProvider(provider, { 'daily-limit': null }, author, runtime),
    check: checkOwner,
  },
})

export const handler = manageLimit(real)
