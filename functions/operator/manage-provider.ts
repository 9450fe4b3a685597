import * as v from 'valibot'
import { DAILY_LIMIT, formatAmount } from '../../shared/domain/money.ts'
import { Partner, PartnerId } from '../../shared/domain/partner.ts'
import { invalid, Refusal } from '../../shared/domain/refusal.ts'
import { text } from '../../shared/domain/text.ts'
import {
  addressList,
  kept,
  money,
  options,
  orNone,
  present,
} from '../../shared/operator/options.ts'
import {
  feeOptions,
  feeScheduleAfter,
  feeScheduleView,
  settlementAccountAfter,
  settlementAccountView,
  settlementOptions,
} from '../../shared/operator/settlement-options.ts'
import { operatorHandler, verb } from '../../shared/operator/verbs.ts'
import { findBank } from '../../shared/store/banks.ts'
import { findPartner, putPartner } from '../../shared/store/partners.ts'

const settings = {
  'daily-limit': v.optional(orNone(money)),
  duplicates: v.optional(Partner.entries.duplicates),
  status: v.optional(Partner.entries.status),
  'allow-list': v.optional(orNone(addressList)),
  'request-secret': v.optional(orNone(v.pipe(v.string(), v.minLength(16)))),
  ...feeOptions,
  ...settlementOptions,
}

type Settings = v.InferOutput<v.ObjectSchema<typeof settings, undefined>> & {
  name?: string | undefined
}

const changed = (partner: Partner, settings: Settings): Partner | Refusal => {
  const feeSchedule = feeScheduleAfter(partner.feeSchedule, settings)
  if (feeSchedule instanceof Refusal) return feeSchedule
  const settlementAccount = settlementAccountAfter(partner.settlementAccount, settings)
  if (settlementAccount instanceof Refusal) return settlementAccount
  return {
    id: partner.id,
    name: settings.name ?? partner.name,
    duplicates: settings.duplicates ?? partner.duplicates,
    status: settings.status ?? partner.status,
    ...present({
      dailyLimit: kept(partner.dailyLimit, settings['daily-limit']),
      allowedAddresses: kept(partner.allowedAddresses, settings['allow-list']),
      requestSecret: kept(partner.requestSecret, settings['request-secret']),
      feeSchedule,
      settlementAccount,
    }),
  }
}

const view = (partner: Partner) => ({
  id: partner.id,
  name: partner.name,
  status: partner.status,
  daily_limit: partner.dailyLimit === undefined ? null : formatAmount(partner.dailyLimit),
  duplicates: partner.duplicates,
  allow_list: partner.allowedAddresses ?? null,
  signs_requests: partner.requestSecret !== undefined,
  fee_schedule: feeScheduleView(partner),
  settlement_account: settlementAccountView(partner),
})

const fresh = (id: PartnerId, name: string): Partner => ({
  id,
  name,
  status: 'active',
  dailyLimit: DAILY_LIMIT,
  duplicates: 'return',
})

const save = async (partner: Partner | Refusal, settings: Settings) => {
  if (partner instanceof Refusal) return partner
  const bank = settings['settlement-bank']
  if (bank && !(await findBank(bank))) return invalid({ 'settlement-bank': ['no such bank'] })
  await putPartner(partner)
  return view(partner)
}

const unknown = () => new Refusal(1404, { details: 'no such provider' })

export const handler = operatorHandler({
  create: verb(
    options({ provider: PartnerId, name: text({ max: 100 }), ...settings }),
    async ({ provider, ...rest }) =>
      (await findPartner(provider))
        ? new Refusal(1409, { details: 'this provider exists already' })
        : save(changed(fresh(provider, rest.name), rest), rest),
  ),
  update: verb(
    options({ provider: PartnerId, name: v.optional(text({ max: 100 })), ...settings }),
    async ({ provider, ...rest }) => {
      const partner = await findPartner(provider)
      return partner ? save(changed(partner, rest), rest) : unknown()
    },
  ),
  show: verb(options({ provider: PartnerId }), async ({ provider }) => {
    const partner = await findPartner(provider)
    return partner ? view(partner) : unknown()
  }),
})
