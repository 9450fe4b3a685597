/** A function whose reply has the size that its path names. */
export const handler = async ({ path, size = Number(path?.slice(1)) }: Event) => ({
  statusCode: 200,
  headers: {},
  body: 'x'.repeat(size),
})

type Event = { path?: string; size?: number }
