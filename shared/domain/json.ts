/** Returns undefined if the text is not JSON. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Reports whether a value is a JSON object: neither an array nor null. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

// Strings, keys with their colon, and the marks of objects.
const TOKEN = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}]/g

/** Reports whether an object of valid JSON has a key twice: a reader keeps the first or the last value. */
export const repeatsKey = (json: string): boolean => {
  const levels: Set<unknown>[] = []
  for (const [token, colon] of json.matchAll(TOKEN)) {
    if (token === '{') levels.push(new Set())
    else if (token === '}') levels.pop()
    else if (colon !== undefined) {
      const keys = levels.at(-1)
      const key = JSON.parse(token.slice(0, -colon.length))
      if (keys?.has(key)) return true
      keys?.add(key)
    }
  }
  return false
}
