"""The populators that come with batchctl; they import nothing of it but `batchctl.plugin_api`."""
