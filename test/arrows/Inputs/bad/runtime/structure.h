// of the runtime alone
