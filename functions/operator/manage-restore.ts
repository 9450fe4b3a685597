import { GENERATION_MAX, isHeldBy, type Restore } from '../../shared/domain/operator/restore.ts'
import type { ProviderId } from '../../shared/domain/providers/provider.ts'
import { invalid, Refusal } from '../../shared/domain/refusal.ts'
import { type Author, operatorHandler } from '../../shared/operator/handler.ts'
import { restore } from '../../shared/operator/nouns/restore.ts'
import { defined } from '../../shared/operator/options.ts'
import { readGeneration, writeGeneration } from '../../shared/settlement/report/generation.ts'
import { changeWrites } from '../../shared/store/operator/changes.ts'
import { changeRestore, findRestore } from '../../shared/store/operator/restores.ts'
import { findProvider, listProviders } from '../../shared/store/providers/providers.ts'

const fields = (one: Restore | undefined) =>
  one && {
    generation: one.generation,
    released: one.released,
    released_at: one.releasedAt?.toISOString() ?? null,
  }

const view = async (one: Restore | undefined) => {
  const held = (await listProviders()).filter((id) => isHeldBy(one, id))
  return {
    generation: one?.generation ?? 1,
    begun_at: one?.begunAt.toISOString() ?? null,
    by: one?.by ?? null,
    released_at: one?.releasedAt?.toISOString() ?? null,
    released: one?.released ?? [],
    held,
  }
}

const change = (
  author: Author,
  after: (before: Restore | undefined) => Restore | Refusal,
  provider?: ProviderId,
) =>
  changeRestore(after, (before, written) =>
    changeWrites(
      { ...author, target: `generation ${written.generation}`, ...defined({ provider }) },
      fields(before),
      fields(written),
    ),
  )

const tooLow = (highest: number): Refusal =>
  invalid({
    generation: [
      highest < GENERATION_MAX
        ? `must be above ${highest}, the highest so far`
        : `all generations up to ${GENERATION_MAX} are used`,
    ],
  })

/** The bucket first: a generation that it has is never given to another restore. */
const begin = async (generation: number, author: Author): Promise<Restore | Refusal> => {
  const highest = await readGeneration()
  const isCutOff = generation === highest.generation && !highest.isInTable
  if (generation <= highest.generation && !isCutOff) return tooLow(highest.generation)
  await writeGeneration({ generation, isInTable: false })
  const begun = await change(author, (before) => {
    if (before?.generation === generation) return before
    if (before && before.generation > generation) return tooLow(before.generation)
    const { at: begunAt, by } = author
    return { generation, begunAt, by, released: [], releasedAt: null }
  })
  // The table decides between two concurrent operators, and the bucket follows the table.
  const now = begun instanceof Refusal ? await findRestore() : begun
  if (now) await writeGeneration({ generation: now.generation, isInTable: true })
  return begun
}

const noRestore = () => new Refusal(1404, { details: 'no restore has begun' })

const release = async (provider: ProviderId | undefined, author: Author) => {
  if (provider && !(await findProvider(provider))) {
    return new Refusal(1404, { details: 'no such provider' })
  }
  return change(
    author,
    (before) => {
      if (!before) return noRestore()
      const isHeld = provider ? isHeldBy(before, provider) : before.releasedAt === null
      if (!isHeld) return before
      return provider
        ? { ...before, released: [...before.released, provider] }
        : { ...before, releasedAt: author.at }
    },
    provider,
  )
}

const shown = async (one: Restore | Refusal) => (one instanceof Refusal ? one : view(one))

export const handler = operatorHandler(restore, {
  begin: async ({ generation }, author) => shown(await begin(generation, author)),
  release: async ({ provider }, author) => shown(await release(provider, author)),
  show: async () => ({
    ...(await view(await findRestore())),
    highest_generation: (await readGeneration()).generation,
  }),
})
