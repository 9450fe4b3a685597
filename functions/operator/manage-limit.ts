import { formatAmount, pesewas } from '../../shared/domain/money.ts'
import type { Partner, PartnerId } from '../../shared/domain/partner.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { dayOf } from '../../shared/domain/settlement.ts'
import { operatorHandler } from '../../shared/operator/handler.ts'
import { limit } from '../../shared/operator/nouns/limit.ts'
import { present } from '../../shared/operator/options.ts'
import { real } from '../../shared/runtime.ts'
import { findDayTotal } from '../../shared/store/day-totals.ts'
import { changePartner, findPartner, loadPartners } from '../../shared/store/partners.ts'

const view = ({ id, dailyLimit }: Partner) => ({
  provider: id,
  daily_limit: dailyLimit === undefined ? null : formatAmount(dailyLimit),
})

/** Without a limit nothing is counted. */
const used = async ({ id, dailyLimit }: Partner) => {
  const day = dayOf(real.now())
  if (dailyLimit === undefined) return { day, used: null, left: null }
  const total = (await findDayTotal(id, day)) ?? 0
  const left = Math.max(0, dailyLimit - total)
  return { day, used: formatAmount(pesewas(total)), left: formatAmount(pesewas(left)) }
}

const set = async (id: PartnerId, dailyLimit: Partner['dailyLimit'] | null) => {
  const partner = await changePartner(id, (before) => {
    if (!before) return unknown()
    const { dailyLimit: _, ...rest } = before
    return { ...rest, ...present({ dailyLimit: dailyLimit ?? undefined }) }
  })
  return partner instanceof Refusal ? partner : view(partner)
}

const unknown = () => new Refusal(1404, { details: 'no such provider' })

export const handler = operatorHandler(limit, {
  set: ({ provider, 'daily-limit': dailyLimit }) => set(provider, dailyLimit),
  show: async ({ provider }) => {
    const partner = await findPartner(provider)
    return partner ? { ...view(partner), ...(await used(partner)) } : unknown()
  },
  list: async () => (await loadPartners()).map(view),
  remove: ({ provider }) => set(provider, null),
})
