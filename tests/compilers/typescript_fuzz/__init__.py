"""Programs made at random, in TypeScript and as the JavaScript that they mean."""
