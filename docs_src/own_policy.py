import anyio

from codemodekit import Allow, Ask, CodeMode, Deny, PolicyRequest, define_tool, local


@define_tool(destructive=True)
def transfer(account: str, amount: int) -> str:
    """Move money."""
    return f"moved {amount} to {account}"


async def policy(request: PolicyRequest) -> Allow | Ask | Deny:
    if request.principal != "accounting":
        return Deny("only accounting moves money")
    if request.input["amount"] > 100:
        return Ask("more than 100")
    return Allow()


async def approver(request: PolicyRequest, reason: str | None) -> Allow | Deny:
    """Stands for a person who is asked; the run waits for the answer."""
    return Allow() if request.input["account"] == "rent" else Deny("not this account")


PROGRAM = """
const answers = [];
for (const wish of context) {
  try {
    answers.push((await tools.bank.transfer(wish)).structuredContent);
  } catch (error) {
    answers.push(error.code);
  }
}
return answers;
"""
WISHES = [{"account": "tea", "amount": 5}, {"account": "rent", "amount": 900}, {"account": "tea", "amount": 900}]


async def main() -> list[object]:
    async with CodeMode(providers=[local("bank", [transfer])], tool_policy=policy, approver=approver) as code_mode:
        accounting = await code_mode.run(PROGRAM, context=WISHES, principal="accounting")
        stranger = await code_mode.run(PROGRAM, context=WISHES[:1], principal="stranger")
        return [accounting.value, stranger.value]


if __name__ == "__main__":
    print(*anyio.run(main), sep="\n")
