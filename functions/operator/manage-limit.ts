import type * as v from 'valibot'
import { effectiveLimit } from '../../shared/api/effective-limit.ts'
import {
  type Operation,
  type OperationName,
  operationNames,
  operations,
} from '../../shared/api/operations.ts'
import type { Bank, BankIdentifier } from '../../shared/domain/banks/bank.ts'
import { formatAmount, pesewas } from '../../shared/domain/money.ts'
import {
  dailyLimitAfter,
  type Provider,
  type ProviderId,
} from '../../shared/domain/providers/provider.ts'
import {
  type RequestLimits,
  withRequestLimit,
} from '../../shared/domain/providers/request-limits.ts'
import { invalid, Refusal } from '../../shared/domain/refusal.ts'
import { dayOf } from '../../shared/domain/settlement/batch.ts'
import { type Author, operatorHandler } from '../../shared/operator/handler.ts'
import { limit } from '../../shared/operator/nouns/limit.ts'
import { defined } from '../../shared/operator/options.ts'
import { real } from '../../shared/runtime.ts'
import { changeBank, findBank, listBanks } from '../../shared/store/banks/banks.ts'
import { findDayTotal } from '../../shared/store/debits/day-totals.ts'
import { changeWrites } from '../../shared/store/operator/changes.ts'
import {
  changeProvider,
  findProvider,
  loadProviders,
} from '../../shared/store/providers/providers.ts'

type SetOptions = v.InferOutput<typeof limit.verbs.set.options>
type Owner = Pick<SetOptions, 'provider' | 'bank'>
type Kind = 'provider' | 'bank'

const operationsOf = (kind: Kind): OperationName[] =>
  operationNames.filter((name) => operations[name].caller === kind)

const perMinute = (name: OperationName, overrides: RequestLimits) => {
  const { per }: Operation['limit'] = operations[name].limit
  const { perMinute: own, total } = effectiveLimit(name, overrides)
  const scope = per === 'caller' ? 'provider' : per
  return { [`per_${scope}`]: own, ...defined({ per_provider: total }) }
}

/** The overrides, and the limits in effect by operation. */
const requestLimits = (kind: Kind, overrides: RequestLimits = {}) => ({
  overrides,
  requests_per_minute: Object.fromEntries(
    operationsOf(kind).map((name) => [name, perMinute(name, overrides)]),
  ),
})

const providerView = (provider: Provider) => ({
  provider: provider.id,
  daily_limit: provider.dailyLimit === undefined ? null : formatAmount(provider.dailyLimit),
  ...requestLimits('provider', provider.requestLimits),
})

const bankView = (bank: Bank) => ({
  bank: bank.identifier,
  ...requestLimits('bank', bank.requestLimits),
})

/** Without a daily limit no total is kept. */
const used = async ({ id, dailyLimit }: Provider) => {
  const day = dayOf(real.now())
  if (dailyLimit === undefined) return { day, used: null, left: null }
  const total = (await findDayTotal(id, day)) ?? 0
  const left = Math.max(0, dailyLimit - total)
  return { day, used: formatAmount(pesewas(total)), left: formatAmount(pesewas(left)) }
}

const unknown = (kind: Kind) => new Refusal(1404, { details: `no such ${kind}` })

const oneOwner = ({ provider, bank }: Owner): Refusal | undefined =>
  (provider === undefined) === (bank === undefined)
    ? new Refusal(1400, { details: 'either --provider or --bank is required' })
    : undefined

/** Rejects options that do not fit each other. */
const checkOptions = (given: SetOptions): Refusal | undefined => {
  const { bank, operation, 'daily-limit': dailyLimit, 'per-minute': count } = given
  const mismatch = oneOwner(given)
  if (mismatch) return mismatch
  if (operation !== undefined && count === undefined) {
    return invalid({ 'per-minute': ['is required with --operation'] })
  }
  if (operation === undefined && count !== undefined) {
    return invalid({ operation: ['is required with --per-minute'] })
  }
  if (bank && dailyLimit !== undefined)
    return invalid({ 'daily-limit': ['applies to providers only'] })
  if (operation === undefined && dailyLimit === undefined) {
    return new Refusal(1400, { details: 'name --daily-limit, or --operation and --per-minute' })
  }
  const names = operationsOf(bank ? 'bank' : 'provider')
  return operation === undefined || names.includes(operation)
    ? undefined
    : invalid({ operation: [`must be one of ${names.join(', ')}`] })
}

const withOverride = <T extends Bank | Provider>(
  before: T,
  { operation, 'per-minute': count }: Pick<SetOptions, 'operation' | 'per-minute'>,
) =>
  operation === undefined || count === undefined
    ? before
    : withRequestLimit(before, operation, count)

/** The limits in the record of a change: each operation with an override is a field. */
const limitsOf = (owner: Provider | Bank) => ({
  ...owner.requestLimits,
  ...('dailyLimit' in owner && owner.dailyLimit !== undefined
    ? { daily_limit: formatAmount(owner.dailyLimit) }
    : {}),
})

const setProvider = async (id: ProviderId, given: Omit<SetOptions, 'provider'>, author: Author) => {
  const { 'daily-limit': dailyLimit } = given
  const provider = await changeProvider(
    id,
    (before) => {
      if (!before) return unknown('provider')
      if (dailyLimit === undefined) return withOverride(before, given)
      const { dailyLimit: _limit, countedUntil: _until, ...rest } = before
      const after = dailyLimitAfter(before, dailyLimit ?? undefined, dayOf(real.now()))
      return withOverride({ ...rest, ...after }, given)
    },
    (before, after) =>
      changeWrites(
        { ...author, target: id, provider: id },
        before && limitsOf(before),
        limitsOf(after),
      ),
  )
  return provider instanceof Refusal ? provider : providerView(provider)
}

const setBank = async (identifier: BankIdentifier, given: SetOptions, author: Author) => {
  const recording = { ...author, target: identifier, bank: identifier }
  const bank = await changeBank(
    identifier,
    (before) => (before ? withOverride(before, given) : unknown('bank')),
    (before, after) => changeWrites(recording, before && limitsOf(before), limitsOf(after)),
  )
  return bank instanceof Refusal ? bank : bankView(bank)
}

const show = async ({ provider, bank }: Owner) => {
  if (provider) {
    const found = await findProvider(provider)
    return found ? { ...providerView(found), ...(await used(found)) } : unknown('provider')
  }
  const found = bank && (await findBank(bank))
  return found ? bankView(found) : unknown('bank')
}

export const handler = operatorHandler(limit, {
  set: async (given, author) => {
    const refusal = checkOptions(given)
    if (refusal) return refusal
    if (given.provider) return setProvider(given.provider, given, author)
    return given.bank && setBank(given.bank, given, author)
  },
  show: async (owner) => oneOwner(owner) ?? show(owner),
  list: async () => [
    ...(await loadProviders()).map(providerView),
    ...(await listBanks()).map(bankView),
  ],
  remove: ({ provider }, author) => setProvider(provider, { 'daily-limit': null }, author),
})
