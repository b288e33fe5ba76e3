import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'postgresql',
  schema: './shared/stores/schema/schema.ts',
  out: './shared/stores/schema/migrations',
})
